import type { Chronicle } from './chronicle.ts'
import type { Finding } from './evaluate.ts'

/** The violations of the history, with all faults under way. None of them is an excuse: the limits include them. */
export function findHistoryViolations({ history, monitors, faults }: Chronicle): Finding[] {
  return history.violations.map(({ what, monitorId, fromMs, atMs, details }) => {
    const index = monitors.findIndex(({ id }) => id === monitorId)
    const regions = monitors[index]?.settings.findLast(one => one.fromMs <= atMs)?.regions.length ?? 0
    const during = faults.filter(fault => fault.fromMs <= atMs && fault.toMs >= fromMs)
    const cause = [...new Set(during.map(({ kind }) => kind))].sort().join(' + ') || 'no fault under way'
    return { what, monitorId, index, atMs, regions, cause, details, faults: during, isBroken: true }
  })
}
