import type { Assertion } from '../../../../../shared/checks/check.ts'
import type { Result } from '../../../../../shared/checks/result.ts'
import type { VerdictStatus } from '../../../../verdict/core/types.ts'

/** A result as the history stores it. */
export type StoredAttempt = {
  region: string
  probeId: string
  result: Result
  /** when JetStream took it, in ms; estimated if it is not stored */
  takenAtMs: number
  isArrivalStored: boolean
  /** its place in the stream; 0 if it is not stored */
  sequence: number
}

/** The settings that the rules use, since `atMs`, by PostgreSQL's clock. */
export type StoredPolicy = {
  atMs: number
  configVersion: number
  streaksSince: number
  regions: string[]
  retryCount: number
  intervalSeconds: number
  timeoutMs: number
  witness: boolean
  isPaused: boolean
}

/** The live set of a region since `atMs`, and its newest absence, by PostgreSQL's clock. */
export type RegionChange = {
  region: string
  atMs: number
  epoch: number
  probeIds: string[]
  absentFromMs: number | null
  absentUntilMs: number | null
}

/** `removed`: paused, deleted or no longer checked, which also ends an outage. `unchecked`: no check counted. */
type StepKind = 'verdict' | 'unchecked' | 'removed'

/** A change of a status. Times in ms. */
export type StatusStep = {
  atMs: number
  to: VerdictStatus
  kind: StepKind
  /** the first failure that led to it; null if there is none, or if it is no longer stored */
  firstFailureMs: number | null
}

/** A stored transition. `knownAtMs`: when it was stored. */
export type StoredStep = StatusStep & { knownAtMs: number }

/** The status with which a period begins. `uncheckedSinceMs`: since when no check counted; null while `status` is shown. */
export type StoredStatus = {
  status: VerdictStatus
  sinceMs: number | null
  outageSinceMs: number | null
  uncheckedSinceMs: number | null
}

/** The settings that replace the stored ones; those that are missing stay. */
export type SettingsChange = {
  retryCount?: number
  timeoutMs?: number
  regions?: readonly string[]
  /** the assertions on response time and phases */
  durations?: Assertion[]
}

/** A code for programs and a sentence for people. */
export type RehearsalReason = { code: string; message: string }
