/** Names on NATS, the same for both programs. */

/** How many partitions results are spread over (decisions 11.5). */
export const PARTITIONS = 16

export const RESULTS_STREAM = 'RESULTS'
export const LATE_STREAM = 'LATE'

/** Screenshots on their way to the store, a message each. */
export const SCREENSHOTS_STREAM = 'SHOTS'
export const screenshotSubject = (region: string) => `${SCREENSHOTS_STREAM}.${region}`

/** Heartbeat pings that a process without PostgreSQL has acknowledged, until another one stores them. JSON: KeptPing. */
export const PINGS_STREAM = 'PINGS'
export const STORED_PING_SUBJECT = `${PINGS_STREAM}.kept`

/** A message a process, from whose time JetStream's clock is learned. */
export const CLOCK_STREAM = 'CLOCK'

/** Which partition a monitor's results travel in: FNV-1a of its id, 0 to PARTITIONS - 1. */
export function computePartition(monitorId: string): number {
  return fnv1a(monitorId) % PARTITIONS
}

/** 32-bit FNV-1a of an ASCII text, as an unsigned integer. */
export function fnv1a(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i)
    hash = Math.imul(hash, 0x01000193)
  }
  return hash >>> 0
}

export const resultSubject = (partition: number, region: string) => `${RESULTS_STREAM}.${partition}.${region}`
/**
 * What witnesses saw, published by the fleet: in the order of the partition, and on the subject of no region, so that no probe
 * may publish it.
 */
export const WITNESS_REGION = 'witness'
export const witnessSubject = (partition: number) => resultSubject(partition, WITNESS_REGION)
export const lateSubject = (partition: number, region: string) => `${LATE_STREAM}.${partition}.${region}`
/** What the ordered reader of one partition listens to. */
export const partitionFilter = (partition: number) => `${RESULTS_STREAM}.${partition}.*`

/** Everything that probes publish on NATS. */
export const PROBE_SUBJECTS = [`${RESULTS_STREAM}.*.*`, `${LATE_STREAM}.*.*`, `${SCREENSHOTS_STREAM}.*`]
/** What of it the probes of one region may publish (decisions 11.6). */
export const probeSubjects = (region: string) => [
  `${RESULTS_STREAM}.*.${region}`,
  `${LATE_STREAM}.*.${region}`,
  screenshotSubject(region),
]
/** Where a probe hears the acks of JetStream, and nobody else does. */
export const buildInboxPrefix = (probeId: string) => `_INBOX.${probeId}`

/** Hints on core NATS, safe to lose: ask a region to check a monitor at once. JSON: RunHint. */
export const runHintSubject = (region: string) => `HINT.run.${region}`
/** Ask the regions that are not the monitor's to confirm a failure. JSON: WitnessHint. */
export const WITNESS_SUBJECT = 'HINT.witness'
/** A region's state of a monitor changed. JSON: { states: [{ monitorId, state }] }, state as in fleet.proto. */
export const stateHintSubject = (region: string) => `HINT.state.${region}`
/** Answers of a run-now. The bytes of a RunDone. */
export const runDoneSubject = (runId: string) => `HINT.done.${runId}`

/** A probe with a browser is to take a screenshot. The bytes of a ScreenshotOrder. */
export const screenshotHintSubject = (probeId: string) => `HINT.shot.${probeId}`
/** How much a monitor's page differs from its baseline has changed. JSON: DifferenceHint. */
export const differenceHintSubject = (region: string) => `HINT.difference.${region}`

export type DifferenceHint = { monitorId: string; difference: number | null }

export type WitnessHint = { runId: string; monitorId: string; configVersion: number; scheduledAtMs: number }

export type RunHint = {
  runId: string
  monitorId: string
  /** Trigger of result.proto */
  trigger: number
  scheduledAtMs: number
  /** set for "another probe of the same region": this one has spoken */
  notProbeId?: string
  /** the monitor's when it was asked for; older ones are caught up with first */
  configVersion?: number
  /** set for a check of what no monitor is: the CheckSpec, sealed because it may hold credentials (fleet/sealed-spec.ts) */
  sealedSpec?: string
}
