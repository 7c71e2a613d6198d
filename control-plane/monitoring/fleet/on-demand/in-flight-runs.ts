import type { ProbeSession } from '../sessions/session.ts'

/** A check on demand: the session to which it was sent, and the answer (a RunDone) once it has arrived. */
type InFlightRun = { session: ProbeSession; sinceMs: number; answer: Uint8Array | null; witnessed: WitnessRun | null }

/** The check of a witness as it was requested. The published result has these fields. `tenant`: the owner of the monitor. */
export type WitnessRun = { monitorId: string; configVersion: number; scheduledAtMs: number; tenant: number }

/**
 * The checks on demand of this process by run, oldest first. A waiting process repeats its hint until an answer arrives, so a
 * lost hint, a lost answer or a broken session does not leave it waiting. A repeated hint for a run in this map starts no
 * second check.
 */
export type InFlightRuns = Map<string, InFlightRun>

/** The longest timeout of a check plus the additional 5 s. No process waits longer. */
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

/** Counts the checks that a session is making as a witness: all, and those for one tenant. */
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

/** Removes the runs for which no process waits any longer. */
export function expireRuns(runs: InFlightRuns, nowMs: number): void {
  for (const [runId, { sinceMs }] of runs) {
    if (nowMs - sinceMs <= RUN_TIMEOUT_MS) return
    runs.delete(runId)
  }
}
