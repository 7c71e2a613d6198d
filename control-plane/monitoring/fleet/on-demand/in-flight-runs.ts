import type { ProbeSession } from '../sessions/session.ts'

/** A check that somebody waits for, the session that it was given to, and the answer (a RunDone) once it has come. */
type InFlightRun = { session: ProbeSession; sinceMs: number; answer: Uint8Array | null; witnessed: WitnessRun | null }

/** The check that a witness makes, as it was asked for; only that counts. `tenant`: the one whose monitor it is. */
export type WitnessRun = { monitorId: string; configVersion: number; scheduledAtMs: number; tenant: number }

/**
 * What this process has in hand of checks on demand, by run, oldest first. Whoever waits repeats the hint until there
 * is an answer, so neither a hint, nor an answer, nor a session that breaks can leave anybody waiting; what is in hand
 * here is for a repeated hint no second check.
 */
export type InFlightRuns = Map<string, InFlightRun>

/** The longest timeout of a check, and the patience beyond it: nobody waits any longer (decisions 3.1). */
const RUN_TIMEOUT_MS = 65_000

/** `nowMs` is monotonic. */
export function trackRun(
  runs: InFlightRuns,
  runId: string,
  session: ProbeSession,
  nowMs: number,
  witnessed: WitnessRun | null = null,
): void {
  runs.delete(runId)
  runs.set(runId, { session, sinceMs: nowMs, answer: null, witnessed })
}

/** How many checks of a witness are under way on a session, and how many of them for one tenant. */
export function countWitnessRuns(
  runs: InFlightRuns,
  session: ProbeSession,
  tenant: number,
): { all: number; ofTenant: number } {
  const count = { all: 0, ofTenant: 0 }
  for (const run of runs.values()) {
    if (!run.witnessed || run.session !== session) continue
    count.all++
    if (run.witnessed.tenant === tenant) count.ofTenant++
  }
  return count
}

/** Forgets the runs that nobody waits for any more. */
export function expireRuns(runs: InFlightRuns, nowMs: number): void {
  for (const [runId, { sinceMs }] of runs) {
    if (nowMs - sinceMs <= RUN_TIMEOUT_MS) return
    runs.delete(runId)
  }
}
