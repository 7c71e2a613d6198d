import { type Behaviour, startTarget, type Target } from '../support/target.ts'
import type { Teardown } from '../support/teardown.ts'
import type { FailureMode, PlannedOutage } from './plan.ts'

/** An outage that was caused. `toMs` null: the target is still broken. */
export type ActualOutage = { monitor: number; fromMs: number; toMs: number | null }

/** One server with one path for each monitor. */
export type ChaosTargets = {
  port: number
  /** a URL that never answers, with all paths below it */
  hangingUrl: string
  getUrl(monitor: number): string
  break(outage: PlannedOutage): void
  restore(monitor: number): void
  /** ordered by their beginning */
  outages: ActualOutage[]
}

const FAILURE_MODES: Record<FailureMode, Behaviour> = {
  status: { kind: 'answer', status: 503 },
  reset: { kind: 'reset', after: 'connect' },
  hang: { kind: 'hang', after: 'connect' },
}

export async function startChaosTargets(t: Teardown): Promise<ChaosTargets> {
  const target: Target = await startTarget(t)
  const outages: ActualOutage[] = []
  const hanging = await startTarget(t)
  hanging.behave({ kind: 'hang', after: 'connect' })
  const toPath = (monitor: number) => `/shop/${monitor}`
  return {
    port: target.port,
    outages,
    hangingUrl: hanging.url,
    getUrl: monitor => new URL(toPath(monitor), target.url).href,
    break({ monitor, mode }) {
      target.behaveAt(toPath(monitor), FAILURE_MODES[mode])
      outages.push({ monitor, fromMs: Date.now(), toMs: null })
    },
    restore(monitor) {
      target.behaveAt(toPath(monitor), { kind: 'answer' })
      const outage = outages.findLast(one => one.monitor === monitor && one.toMs === null)
      if (outage) outage.toMs = Date.now()
    },
  }
}
