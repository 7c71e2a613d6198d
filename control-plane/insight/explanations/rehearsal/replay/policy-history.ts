import { selectAbsences } from '../../../../verdict/core/rules/absences.ts'
import type { Policy, RegionAbsences } from '../../../../verdict/core/types.ts'
import { buildPolicy, withAbsences } from '../../../../verdict/reader/counting/policy.ts'
import type { SettingsChange, StoredPolicy } from './types.ts'

type PolicyHistory = {
  /**
   * The policy for a result of `configVersion` that was taken at `nowMs`; null while the monitor is paused or none of its
   * regions remains. To be called with ascending times. `absences`: the same map until something changes.
   */
  at(nowMs: number, configVersion: number, absences: RegionAbsences): Policy | null
  /** how often the monitor was paused until the time of the last `at` */
  countPauses(): number
}

/**
 * The policies of a monitor as its reader had them: a reader has a new one when it is stored, at the latest with the first
 * result of its config version. The first row also applies to the time before it. `rows`: in ascending order, not empty.
 */
export function createPolicyHistory(
  monitorId: string,
  rows: readonly StoredPolicy[],
  change: SettingsChange,
): PolicyHistory {
  let pauses = 0
  const pausesUntil = rows.map(({ isPaused }) => (isPaused ? ++pauses : pauses))
  let index = 0
  let seenVersion = 0
  let built: { key: string; absences: RegionAbsences; policy: Policy | null } | null = null

  function advance(nowMs: number, configVersion: number): void {
    seenVersion = Math.max(seenVersion, configVersion)
    while (index + 1 < rows.length && rows[index + 1]!.atMs <= nowMs) index++
    const current = rows[index]!
    for (let next = index + 1; next < rows.length; next++) {
      const row = rows[next]!
      if (row.configVersion > current.configVersion && row.configVersion <= configVersion && !row.isPaused) index = next
    }
  }

  return {
    at(nowMs, configVersion, absences) {
      advance(nowMs, configVersion)
      const row = rows[index]!
      const isBefore = index === 0 && nowMs < row.atMs
      const version = isBefore && seenVersion > 0 ? seenVersion : Math.max(row.configVersion, seenVersion)
      const key = `${index} ${version}`
      if (built?.key !== key || built.absences !== absences)
        built = { key, absences, policy: build(monitorId, row, version, change, absences) }
      return built.policy
    },
    countPauses: () => pausesUntil[index]!,
  }
}

function build(
  id: string,
  row: StoredPolicy,
  configVersion: number,
  { retryCount, timeoutMs, regions }: SettingsChange,
  absences: RegionAbsences,
): Policy | null {
  const kept = regions ? row.regions.filter(region => regions.includes(region)) : row.regions
  if (row.isPaused || kept.length === 0) return null
  const policy = buildPolicy({
    ...{ ...row, id, configVersion, regions: kept, status: null, isDeleted: false },
    ...(retryCount !== undefined && { retryCount }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  })
  return withAbsences(policy, selectAbsences(policy, absences))
}
