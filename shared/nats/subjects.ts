/** Names of NATS streams and subjects, shared by both programs. */

/** Number of partitions of results. */
export const PARTITIONS = 16

export const RESULTS_STREAM = 'RESULTS'
export const LATE_STREAM = 'LATE'

/** Screenshots that are not stored yet, one message each. */
export const SCREENSHOTS_STREAM = 'SHOTS'
export const screenshotSubject = (region: string) => `${SCREENSHOTS_STREAM}.${region}`

/** The bucket of screenshots that are stored. */
export const SCREENSHOTS_BUCKET = 'SCREENSHOTS'
/** The stream of a bucket. */
export const bucketStream = (bucket: string) => `OBJ_${bucket}`

/** Heartbeat pings that were acknowledged while PostgreSQL was unavailable, until they are stored. JSON: KeptPing. */
export const PINGS_STREAM = 'PINGS'
export const STORED_PING_SUBJECT = `${PINGS_STREAM}.kept`

/** One message per process; its timestamp is a sample of JetStream's clock. */
export const CLOCK_STREAM = 'CLOCK'

/** The partition of a monitor's results: FNV-1a of its id, 0 to PARTITIONS - 1. */
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
 * Results of witnesses, published by the fleet in the order of the partition. The subject belongs to no region, so probes
 * may not publish on it.
 */
export const WITNESS_REGION = 'witness'
export const witnessSubject = (partition: number) => resultSubject(partition, WITNESS_REGION)
export const lateSubject = (partition: number, region: string) => `${LATE_STREAM}.${partition}.${region}`
/** The subjects of the ordered reader of one partition. */
export const partitionFilter = (partition: number) => `${RESULTS_STREAM}.${partition}.*`
/** The results of a region in all partitions, without those of witnesses. */
export const regionFilter = (region: string) => `${RESULTS_STREAM}.*.${region}`

/** Everything that probes publish on NATS. */
export const PROBE_SUBJECTS = [`${RESULTS_STREAM}.*.*`, `${LATE_STREAM}.*.*`, `${SCREENSHOTS_STREAM}.*`]
/** The subjects on which the probes of one region may publish. */
export const probeSubjects = (region: string) => [
  `${RESULTS_STREAM}.*.${region}`,
  `${LATE_STREAM}.*.${region}`,
  screenshotSubject(region),
]
/** Prefix of the subjects on which only this probe receives acks of JetStream. */
export const buildInboxPrefix = (probeId: string) => `_INBOX.${probeId}`

/** Hints on core NATS, which may be lost. Requests an immediate check of a monitor from a region. JSON: RunHint. */
export const runHintSubject = (region: string) => `HINT.run.${region}`
/** Requests a confirmation of a failure from regions that are not the monitor's. JSON: WitnessHint. */
export const WITNESS_SUBJECT = 'HINT.witness'
/** A region's state of a monitor changed. JSON: { states: [{ monitorId, state }] }, state as in fleet.proto. */
export const stateHintSubject = (region: string) => `HINT.state.${region}`
/** Answers of a RunNow. The bytes of a RunDone. */
export const runDoneSubject = (runId: string) => `HINT.done.${runId}`

/** Requests a screenshot from a probe with a browser. The bytes of a ScreenshotOrder. */
export const screenshotHintSubject = (probeId: string) => `HINT.shot.${probeId}`
/** The difference of a monitor's page from its baseline changed. JSON: DifferenceHint. */
export const differenceHintSubject = (region: string) => `HINT.difference.${region}`

/** `configVersion`: of the picture, undefined: of every version. `validUntilMs`: until when it counts, ms since 1970. */
export type DifferenceHint = {
  monitorId: string
  difference: number | null
  configVersion?: number
  validUntilMs?: number
}

/** Requests a second picture of a page that looks different. The bytes of the ScreenshotOrder of the first one. */
export const secondPictureSubject = (region: string) => `HINT.second.${region}`

export type WitnessHint = { runId: string; monitorId: string; configVersion: number; scheduledAtMs: number }

export type RunHint = {
  runId: string
  monitorId: string
  /** Trigger of result.proto */
  trigger: number
  scheduledAtMs: number
  /** set to request another probe of the same region: excludes this one */
  notProbeId?: string
  /** the monitor's version at the time of the request; an older one is updated first */
  configVersion?: number
  /** set for a check without a monitor: the CheckSpec, encrypted because it may contain credentials */
  sealedSpec?: string
}
