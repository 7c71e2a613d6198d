import t from 'tap'
import { decodeBatch, toVerdictResult } from '../../../../control-plane/verdict/reader/counting/decode.ts'
import {
  FailureSource,
  NO_DETAILS,
  Outcome,
  type Result,
  ResultBatch,
  Trigger,
} from '../../../../shared/checks/result.ts'
import { witnessSubject } from '../../../../shared/nats/subjects.ts'

const result: Result = {
  monitorId: '0190a0a0-0000-7000-8000-000000000001',
  configVersion: 2,
  epoch: 3,
  scheduledAtMs: 1_000,
  startedAtMs: 1_001,
  attempt: 1,
  outcome: Outcome.DOWN,
  trigger: Trigger.SLOT,
  runId: '',
  totalUs: 1_500,
  timings: undefined,
  statusCode: 503,
  error: undefined,
  failedAssertions: [],
  resolvedIp: '',
  ...NO_DETAILS,
}
const encode = (region: string, results: Result[]) =>
  ResultBatch.encode({ probeId: 'p\0robe', region, results }).finish()

t.test('A batch is decoded as it was encoded, without characters that PostgreSQL cannot store', async t => {
  const batch = decodeBatch('RESULTS.4.eu-west', encode('eu-west', [result]))
  t.same(batch, { probeId: 'probe', region: 'eu-west', results: [result] })
})

t.test('A batch of another region than its subject, and invalid bytes, are refused', async t => {
  t.throws(() => decodeBatch('RESULTS.4.us-east', encode('eu-west', [result])), /"eu-west" on RESULTS.4.us-east/)
  t.throws(() => decodeBatch('RESULTS.4.us-east', Uint8Array.of(255, 255, 255, 255)))
})

const seen = { ...result, trigger: Trigger.WITNESS }
const encodeWitnessed = (witnessed: Result, results: Result[] = []) =>
  ResultBatch.encode({ probeId: 'p', region: 'eu-west', results, witnessed }).finish()

t.test('Results of witnesses are accepted only on their own subject, and no other results there', async t => {
  const batch = decodeBatch(witnessSubject(4), encodeWitnessed(seen))
  t.same(batch, { probeId: 'p', region: 'eu-west', results: [seen] })
  const refused: [subject: string, data: Uint8Array][] = [
    [witnessSubject(4), encode('witness', [result])],
    [witnessSubject(4), encode('eu-west', [seen])],
    [witnessSubject(4), encodeWitnessed(result)],
    [witnessSubject(4), encodeWitnessed(seen, [result])],
    ['RESULTS.4.eu-west', encode('eu-west', [result, seen])],
    ['RESULTS.4.eu-west', encodeWitnessed(seen)],
  ]
  for (const [subject, data] of refused) t.throws(() => decodeBatch(subject, data), /witness/)
})

t.test('The error of a result is its own, otherwise the first failed assertion', async t => {
  const batch = { probeId: 'p', region: 'eu-west', results: [] }
  const error = { source: FailureSource.TARGET, code: 'reset', message: `a\0b${'x'.repeat(600)}` }
  const decoded = toVerdictResult(batch, { ...result, error }).error
  t.equal(decoded?.message.slice(0, 3), 'abx')
  t.ok(decoded!.message.length <= 500)
  const cut = { source: FailureSource.TARGET, code: 'reset', message: `${'x'.repeat(499)}\u{1f600}` }
  t.equal(
    toVerdictResult(batch, { ...result, error: cut }).error?.message,
    `${'x'.repeat(499)}\ufffd`,
    'half a character cannot be stored, and neither could a verdict with it',
  )
  const failedAssertions = [{ type: 'body', operator: 'contains', value: 'OK', actual: 'no' }]
  t.match(toVerdictResult(batch, { ...result, failedAssertions }), {
    responseTimeMs: 2,
    error: {
      source: FailureSource.TARGET,
      code: 'assertion_failed',
      message: 'assertion failed: body contains OK, got no',
    },
  })
  t.equal(toVerdictResult(batch, result).error, null)
})

t.test('Only a failure that its probe doubts is counted as doubted', async t => {
  const batch = { probeId: 'p', region: 'eu-west', results: [] }
  t.equal(toVerdictResult(batch, { ...result, doubted: true }).isDoubted, true)
  t.notOk('isDoubted' in toVerdictResult(batch, result))
})

t.test('A result scheduled before 1970 is refused', async t => {
  t.throws(() => toVerdictResult({ probeId: 'p', region: 'eu-west', results: [] }, { ...result, scheduledAtMs: -1 }))
})
