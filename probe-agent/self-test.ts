import type { CheckError } from '../shared/result.ts'

/** The probe's test of its own connectivity (decisions 4.3). Call `probe` from the loop every few seconds. */
export type SelfTest = {
  /** What the last test and the recent checks say. True before the first test. */
  isOnline(): boolean
  /** Tests now. Resolves when the answer stands, never rejects. */
  probe(signal: AbortSignal): Promise<void>
  /** A check was answered by, or failed to reach, its target. */
  observe(target: string, reached: boolean): void
  /** A check that began at `startedUs` failed: the failure to report, `probe_offline` when it was our own network's. */
  excuse(error: CheckError, startedUs: number): Promise<CheckError>
}
