import t from 'tap'
import { toMessageLines } from '../../../control-plane/insight/analytics/recording/message-lines.ts'
import { decodeBatch } from '../../../control-plane/verdict/reader/counting/decode.ts'
import { encodeBatch, encodeBatchEntry, MAX_BATCH_RESULTS } from '../../../probe-agent/results/batch.ts'
import { FailedAssertion, Result } from '../../../proto/gen/probe/v1/result.ts'
import { RESULTS_STREAM, resultSubject } from '../../../shared/nats/subjects.ts'
import { createResult } from '../../support/results.ts'

const KIB = 1024
const subject = resultSubject(0, 'eu-west')
const nowMs = Date.now()
const encode = (pieces: Uint8Array[]) => encodeBatch('probe-1', 'eu-west', pieces)
const result = (changes: Partial<Result> = {}) =>
  encodeBatchEntry(createResult('01a1fb92-bd2c-74bd-b89d-7c289ceb0001', nowMs, changes))
const repeat = <T>(count: number, item: T): T[] => Array(count).fill(item)

/** A result with this number of failed assertions, two bytes each. */
const nested = (count: number) =>
  result({ failedAssertions: repeat(count, { type: '', operator: '', value: '', actual: '' }) })
const emptyResults = (bytes: number) => encode([Buffer.alloc(bytes, Buffer.of(0x1a, 0))])

const REFUSED: [title: string, data: Uint8Array][] = [
  ['4 MiB of empty results', emptyResults(4 * KIB * KIB)],
  ['700 KiB of empty results', emptyResults(700 * KIB)],
  ['more than 5,000 results', encode(repeat(5_001, result()))],
  ['6,000 small results', emptyResults(12_000)],
  ['700 KiB of empty fields in a result', encode([nested(350 * KIB)])],
  ['more than 768 KiB', encode(repeat(500, result({ resolvedIp: 'x'.repeat(1_600) })))],
]
const ACCEPTED: [title: string, data: Uint8Array, count: number][] = [
  ['a full batch', encode(repeat(MAX_BATCH_RESULTS, result())), MAX_BATCH_RESULTS],
  ['a batch of 5,000 results', encode(repeat(5_000, result())), 5_000],
  ['results of many short fields', encode(repeat(20, nested(5_000))), 20],
  ['a batch of more than 512 KiB', encode(repeat(400, result({ resolvedIp: 'x'.repeat(1_500) }))), 400],
]

const buildMessage = (data: Uint8Array, streamSequence: number) => ({
  subject,
  data,
  info: { timestampNanos: nowMs * 1_000_000, stream: RESULTS_STREAM, streamSequence },
})

t.test('Both readers accept what probes send', async t => {
  for (const [title, data, count] of ACCEPTED) {
    t.equal(decodeBatch(subject, data).results.length, count, title)
    t.equal((await toMessageLines([buildMessage(data, 1)], null, null)).lines.count(), count, title)
  }
})

t.test('Both readers refuse a message with too many bytes, results or fields, and its neighbours count', async t => {
  for (const [title, data] of REFUSED) {
    t.throws(() => decodeBatch(subject, data), /the message has/, title)
    const neighbour = encode([result()])
    const messages = [neighbour, data, neighbour].map((one, i) => buildMessage(one, i + 1))
    const { lines, ends, refused } = await toMessageLines(messages, null, null)
    t.same({ lines: lines.count(), ends, refused }, { lines: 2, ends: [1, 1, 2], refused: { unreadable: 1 } }, title)
  }
})

t.test('A refused message creates few objects', async t => {
  let created = 0
  const count = <T extends { decode: (...given: never[]) => unknown }>(type: T) => {
    const { decode } = type
    type.decode = (...given) => {
      created++
      return decode(...given)
    }
    t.teardown(() => {
      type.decode = decode
    })
  }
  count(Result)
  count(FailedAssertion)
  for (const [title, data] of REFUSED) {
    created = 0
    t.throws(() => decodeBatch(subject, data))
    t.ok(created <= 130_000, `${title}: ${created}`)
  }
})
