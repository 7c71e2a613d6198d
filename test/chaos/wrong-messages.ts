import { NO_DETAILS, Outcome, type Result, ResultBatch, Trigger } from '../../shared/checks/result.ts'
import { computePartition, PARTITIONS, WITNESS_REGION } from '../../shared/nats/subjects.ts'
import type { Random } from './random.ts'

type WrongMessage = { subject: string; data: Uint8Array }

type Around = { stream: string; regions: readonly string[]; monitorIds: readonly string[]; nowMs: number }

const HOUR_MS = 3_600_000
const YEAR_MS = 365 * 24 * HOUR_MS
const MANY = 2_000
const PROBE_ID = 'prb_unknown'

/**
 * Messages that no working probe sends, one of each kind. None of them may change the state of a monitor. Results of monitors
 * that exist have epoch 0, which is older than all epochs.
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
  const buildSubject = (partition: number | string, of = region) => `${stream}.${partition}.${of}`
  const encode = (results: Result[], of = region) =>
    ResultBatch.encode({ probeId: PROBE_ID, region: of, results }).finish()
  /** a message on its correct subject */
  const single = (one: Result, of = region): WrongMessage => ({
    subject: buildSubject(computePartition(one.monitorId), of),
    data: encode([one], of),
  })
  const atMs = (ms: number) => ({ scheduledAtMs: ms, startedAtMs: ms })
  const whole = encode([result(known), result(unknownId())])
  const somewhere = buildSubject(random.between(0, PARTITIONS - 1))
  const times = [-1, 0, 1, nowMs - YEAR_MS, nowMs - HOUR_MS, nowMs + HOUR_MS, nowMs + YEAR_MS, Number.MAX_SAFE_INTEGER]
  const unknownIds = Array.from({ length: MANY }, unknownId)
  return [
    // bytes that cannot be decoded as a batch
    { subject: somewhere, data: new Uint8Array(0) },
    ...[1, 20, 5_000].map(count => ({ subject: somewhere, data: bytes(count) })),
    { subject: somewhere, data: whole.subarray(0, random.between(1, whole.length - 1)) },
    // wrong subjects
    { subject: buildSubject(computePartition(known)), data: encode([result(known)], 'another-region') },
    { subject: buildSubject((computePartition(known) + 1) % PARTITIONS), data: encode([result(known)]) },
    ...[PARTITIONS, -1, 'x'].map(partition => ({ subject: buildSubject(partition), data: encode([result(known)]) })),
    single(result(known), 'unknown-region'),
    // impossible times
    ...times.flatMap(ms => [single(result(known, atMs(ms))), single(result(unknownId(), atMs(ms)))]),
    // unknown monitors and invalid ids
    ...['', 'x', 'x'.repeat(100_000), '\0', `${known}\0`, known.toUpperCase()].map(id => single(result(id))),
    { subject: somewhere, data: encode(unknownIds.map(id => result(id))) },
    // undefined values
    single(result(unknownId(), { outcome: 99 as Outcome })),
    single(result(unknownId(), { trigger: 99 as Trigger, attempt: 2 ** 31, statusCode: 2 ** 31, totalUs: 2 ** 31 })),
    single(result(unknownId(), { epoch: 2 ** 32 - 1, configVersion: 2 ** 32 - 1, resolvedIp: 'x\0'.repeat(1_000) })),
  ]
}

/** Whether the region of a batch equals that of its subject, or of the witness. The verdict must not count other results. */
export function hasMatchingRegion(subject: string, { region, witnessed }: ResultBatch): boolean {
  const subjectRegion = subject.slice(subject.lastIndexOf('.') + 1)
  return subjectRegion === (witnessed ? WITNESS_REGION : region)
}
