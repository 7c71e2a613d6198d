import t from 'tap'
import { createYieldPoint } from '../../../../control-plane/foundation/platform/time/clock.ts'
import { createRetryTracker } from '../../../../control-plane/insight/analytics/recording/insert-errors.ts'
import { toMessageLines } from '../../../../control-plane/insight/analytics/recording/message-lines.ts'
import {
  type FetchedMessage,
  type RecorderTools,
  recordUntilAborted,
} from '../../../../control-plane/insight/analytics/recording/record-messages.ts'
import { createRecorderMetrics } from '../../../../control-plane/insight/analytics/recording/recorder-metrics.ts'
import { ResultBatch, Trigger } from '../../../../shared/checks/result.ts'
import { LATE_STREAM, resultSubject, witnessSubject } from '../../../../shared/nats/subjects.ts'
import { createLog } from '../../../../shared/process/log.ts'
import { createMetrics } from '../../../../shared/process/metrics.ts'
import { createResult } from '../../../support/results.ts'
import { countTurns } from '../../../support/turns-during.ts'

const nowMs = Date.now()
const toId = (number: number) => `01a1fb92-bd2c-74bd-b89d-7c289ceb000${number}`

/** A message of a probe, or of a witness, with one check of a monitor. */
function createMessage(number: number, isWitness: boolean, outcomes: string[]): FetchedMessage {
  const result = createResult(toId(number), nowMs, isWitness ? { trigger: Trigger.WITNESS } : {})
  const batch = isWitness ? { results: [], witnessed: result } : { results: [result] }
  return {
    subject: isWitness ? witnessSubject(0) : resultSubject(0, 'eu-west'),
    data: ResultBatch.encode({ probeId: 'probe-1', region: 'eu-west', ...batch }).finish(),
    info: { timestampNanos: nowMs * 1_000_000, stream: LATE_STREAM, streamSequence: number },
    ack: () => outcomes.push(`${number} stored`),
    nak: () => outcomes.push(`${number} delivered again`),
  }
}

/** A recorder of a ClickHouse that rejects the check of a witness of monitor 2 with an error code. */
function createRecorder(code: string) {
  const stored = new Set<string>()
  const metrics = createMetrics()
  const insert: RecorderTools['insert'] = async (table, bytes) => {
    const lines = bytes.toString().split('\n').slice(0, -1)
    const isRejected = table === 'witness_checks' && lines.some(line => line.includes(toId(2)))
    if (isRejected) throw Object.assign(new Error('a value is refused'), { code })
    for (const line of lines) stored.add(`${table} ${line.slice(2, 38)}`)
  }
  const tools: RecorderTools = {
    ...{
      log: createLog('test', 'silent'),
      metrics: createRecorderMetrics(metrics),
      tries: createRetryTracker(),
      insert,
    },
    monitors: { of: () => undefined, refresh: () => Promise.resolve() },
    note: () => Promise.resolve(),
    isAway: () => false,
    yieldPoint: null,
  }
  const deliver = async (): Promise<string[]> => {
    const outcomes: string[] = []
    const messages = [createMessage(1, false, outcomes), ...[2, 3].map(number => createMessage(number, true, outcomes))]
    const source = { take: async () => messages, keepInProgress: <T>(_: unknown, work: Promise<T>) => work }
    await recordUntilAborted(new AbortController().signal, LATE_STREAM, source, tools)
    return outcomes.sort()
  }
  const countSetAside = async () =>
    Number((await metrics.render()).text.match(/unrecordable_total\{reason="refused"\} (\d+)/)?.[1])
  return { deliver, stored, countSetAside }
}

const NEIGHBOURS = [`results ${toId(1)}`, `witness_checks ${toId(3)}`]

t.test('A check of a witness with a value that ClickHouse refuses is set aside, and others are stored', async t => {
  const recorder = createRecorder('6')
  t.same(await recorder.deliver(), ['1 stored', '2 stored', '3 stored'])
  t.same([...recorder.stored].sort(), NEIGHBOURS)
  t.equal(await recorder.countSetAside(), 1)
})

t.test('A check of a witness that is rejected for an unknown reason is set aside at the fourth attempt', async t => {
  const recorder = createRecorder('469')
  for (let attempt = 1; attempt <= 3; attempt++) {
    t.same(await recorder.deliver(), ['1 stored', '2 delivered again', '3 stored'], `attempt ${attempt}`)
    t.equal(await recorder.countSetAside(), 0)
  }
  t.same(await recorder.deliver(), ['1 stored', '2 stored', '3 stored'])
  t.same([...recorder.stored].sort(), NEIGHBOURS)
  t.equal(await recorder.countSetAside(), 1)
})

t.test('Other work of the process runs while a large fetch of results is decoded', async t => {
  const results = Array.from({ length: 500 }, () => createResult(toId(1), nowMs))
  const data = ResultBatch.encode({ probeId: 'probe-1', region: 'eu-west', results }).finish()
  const messages = Array.from({ length: 300 }, (_, i) => ({ ...createMessage(i, false, []), data }))
  const { answer, turns } = await countTurns(() => toMessageLines(messages, null, createYieldPoint()))
  t.equal(answer.lines.count(), 150_000)
  t.ok(turns >= 5, `${turns} turns of the event loop`)
})
