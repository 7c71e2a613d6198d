import { NO_DETAILS, Outcome, type Result, ResultBatch, Trigger } from '../../shared/checks/result.ts'
import { computePartition, PARTITIONS, WITNESS_REGION } from '../../shared/nats/subjects.ts'
import type { Random } from './random.ts'

export type WrongMessage = { subject: string; data: Uint8Array }

type Around = { stream: string; regions: readonly string[]; monitorIds: readonly string[]; nowMs: number }

const HOUR_MS = 3_600_000
const YEAR_MS = 365 * 24 * HOUR_MS
const MANY = 2_000
const PROBE_ID = 'prb_unknown'

/**
 * Messages as no working probe sends them, one of each shape. None of them may change what is known of a monitor. Those with a
 * monitor that exists have epoch 0, which is older than any.
 */
export function createWrongMessages(random: Random, { stream, regions, monitorIds, nowMs }: Around): WrongMessage[] {
  const region = random.pick(regions)
  const known = random.pick(monitorIds)
  const bytes = (count: number) => Uint8Array.from({ length: count }, () => random.between(0, 255))
  const unknownId = () => {
    const hex = Buffer.from(bytes(16)).toString('hex')
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
  }
  const result = (monitorId: string, changes: Partial<Result> = {}): Result => ({
    monitorId,
    configVersion: 1,
    epoch: 0,
    scheduledAtMs: nowMs,
    startedAtMs: nowMs,
    attempt: 1,
    outcome: Outcome.DOWN,
    trigger: Trigger.SLOT,
    runId: '',
    totalUs: 1,
    timings: undefined,
    statusCode: 500,
    error: undefined,
    failedAssertions: [],
    resolvedIp: '',
    ...NO_DETAILS,
    ...changes,
  })
  const subjectOf = (partition: number | string, of = region) => `${stream}.${partition}.${of}`
  const encode = (results: Result[], of = region) =>
    ResultBatch.encode({ probeId: PROBE_ID, region: of, results }).finish()
  /** on the subject where it belongs */
  const single = (one: Result, of = region): WrongMessage => ({
    subject: subjectOf(computePartition(one.monitorId), of),
    data: encode([one], of),
  })
  const atMs = (ms: number) => ({ scheduledAtMs: ms, startedAtMs: ms })
  const whole = encode([result(known), result(unknownId())])
  const somewhere = subjectOf(random.between(0, PARTITIONS - 1))
  const times = [-1, 0, 1, nowMs - YEAR_MS, nowMs - HOUR_MS, nowMs + HOUR_MS, nowMs + YEAR_MS, Number.MAX_SAFE_INTEGER]
  const unknownIds = Array.from({ length: MANY }, unknownId)
  return [
    // bytes that are no batch
    { subject: somewhere, data: new Uint8Array(0) },
    ...[1, 20, 5_000].map(count => ({ subject: somewhere, data: bytes(count) })),
    { subject: somewhere, data: whole.subarray(0, random.between(1, whole.length - 1)) },
    // subjects where it does not belong
    { subject: subjectOf(computePartition(known)), data: encode([result(known)], 'another-region') },
    { subject: subjectOf((computePartition(known) + 1) % PARTITIONS), data: encode([result(known)]) },
    ...[PARTITIONS, -1, 'x'].map(partition => ({ subject: subjectOf(partition), data: encode([result(known)]) })),
    single(result(known), 'unknown-region'),
    // times that cannot be
    ...times.flatMap(ms => [single(result(known, atMs(ms))), single(result(unknownId(), atMs(ms)))]),
    // monitors that do not exist, and ids that are none
    ...['', 'x', 'x'.repeat(100_000), '\0', `${known}\0`, known.toUpperCase()].map(id => single(result(id))),
    { subject: somewhere, data: encode(unknownIds.map(id => result(id))) },
    // values that do not exist
    single(result(unknownId(), { outcome: 99 as Outcome })),
    single(result(unknownId(), { trigger: 99 as Trigger, attempt: 2 ** 31, statusCode: 2 ** 31, totalUs: 2 ** 31 })),
    single(result(unknownId(), { epoch: 2 ** 32 - 1, configVersion: 2 ** 32 - 1, resolvedIp: 'x\0'.repeat(1_000) })),
  ]
}

/** Whether the region of a batch is that of its subject, or a witness saw it; of no others the verdict may count a result. */
export function hasMatchingRegion(subject: string, { region, witnessed }: ResultBatch): boolean {
  const subjectRegion = subject.slice(subject.lastIndexOf('.') + 1)
  return subjectRegion === (witnessed ? WITNESS_REGION : region)
}
