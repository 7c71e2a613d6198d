import type { Link } from './link.ts'

/** A check that somebody waits for, the link that it was given to, and the answer (a RunDone) once it has come. */
type RunInHand = { link: Link; sinceMs: number; answer: Uint8Array | null; witnessed: WitnessedRun | null }

/** The check that a witness makes, as it was asked for; only that counts. `tenant`: the one whose monitor it is. */
export type WitnessedRun = { monitorId: string; configVersion: number; scheduledAtMs: number; tenant: number }

/**
 * What this process has in hand of checks on demand, by run, oldest first. Whoever waits repeats the hint until there
 * is an answer, so neither a hint, nor an answer, nor a link that breaks can leave anybody waiting; what is in hand
 * here is for a repeated hint no second check.
 */
export type RunsInHand = Map<string, RunInHand>

/** The longest timeout of a check, and the patience beyond it: nobody waits any longer (decisions 3.1). */
const WAITED_FOR_MS = 65_000

/** `nowMs` is monotonic. */
export function takeInHand(
  runs: RunsInHand,
  runId: string,
  link: Link,
  nowMs: number,
  witnessed: WitnessedRun | null = null,
): void {
  runs.delete(runId)
  runs.set(runId, { link, sinceMs: nowMs, answer: null, witnessed })
}

/** How many checks of a witness are under way on a link, and how many of them for one tenant. */
export function witnessedBy(runs: RunsInHand, link: Link, tenant: number): { all: number; ofTenant: number } {
  const count = { all: 0, ofTenant: 0 }
  for (const run of runs.values()) {
    if (!run.witnessed || run.link !== link) continue
    count.all++
    if (run.witnessed.tenant === tenant) count.ofTenant++
  }
  return count
}

/** Forgets the runs that nobody waits for any more. */
export function forgetRuns(runs: RunsInHand, nowMs: number): void {
  for (const [runId, { sinceMs }] of runs) {
    if (nowMs - sinceMs <= WAITED_FOR_MS) return
    runs.delete(runId)
  }
}
