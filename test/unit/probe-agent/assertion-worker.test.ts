import t from 'tap'
import { createAssertionEvaluator } from '../../../probe-agent/execution/assertion-worker.ts'
import type { Observation } from '../../../shared/checks/result.ts'
import { waitFor } from '../../support/wait.ts'

const MIB = 1024 * 1024

/** The running timers of the evaluator, which end only when a test calls `work`. */
const timers = new Set<{ ms: number; work: () => void }>()
const evaluateAssertions = createAssertionEvaluator((ms, work) => {
  const timer = { ms, work }
  timers.add(timer)
  return () => void timers.delete(timer)
})

const seen = (body: Buffer): Observation => ({
  error: null,
  timings: { dnsUs: 1, connectUs: 2, tlsUs: 3, firstByteUs: 4, transferUs: 5 },
  totalUs: 15,
  statusCode: 200,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
  resolvedIp: '127.0.0.1',
  certificate: null,
})

/** A fixed text of a and b that is expensive for a regular expression. */
function busyText(): Buffer {
  const bytes = Buffer.alloc(MIB)
  let state = 12_345
  for (let i = 0; i < MIB; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    bytes[i] = (state >> 16) & 1 ? 0x61 : 0x62
  }
  return bytes
}

const matches = (value: string) => [{ type: 'body', operator: 'matches', value }]
const TOO_DEAR = '(?:[ab]*a[ab]{60}){12}$'

t.test('Small responses are evaluated inline, large ones in a thread, with the same result', async t => {
  const assertions = [
    { type: 'status_code', operator: 'equals', value: '200' },
    { type: 'body', operator: 'contains', value: 'größe' },
    { type: 'body', operator: 'matches', value: 'größe$' },
    { type: 'json_path', operator: 'exists', value: '$.a' },
  ]
  const verdicts = [100, MIB - 100].map(length =>
    evaluateAssertions(assertions, seen(Buffer.from(`${'x'.repeat(length)}größe`)), 0),
  )
  t.notOk(verdicts[0] instanceof Promise)
  t.ok(verdicts[1] instanceof Promise)
  const failed = [{ ...assertions[3], actual: '(the body is not JSON)' }]
  t.same(await Promise.all(verdicts), [
    { verdict: 'failed', failed },
    { verdict: 'failed', failed },
  ])
})

t.test('An expression on 1 MiB does not block the event loop', async t => {
  const page = Buffer.alloc(MIB, 'a')
  await evaluateAssertions(matches('(a+)+$'), seen(page), 0)
  let turns = 0
  let isDone = false
  const turn = () => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  turn()
  const judgements = await Promise.all(
    Array.from({ length: 20 }, () => evaluateAssertions(matches('(a+)+$'), seen(page), 0)),
  )
  isDone = true
  t.ok(judgements.every(({ verdict }) => verdict === 'passed'))
  t.ok(turns > 20 * 10, `${turns} turns of the loop during 20 judgements`)
})

t.test('An expression that takes too long is cancelled, and others are evaluated', async t => {
  const text = busyText()
  const dear = t.rejects(Promise.resolve(evaluateAssertions(matches(TOO_DEAR), seen(text), 0)), /takes longer than 2 s/)
  const next = evaluateAssertions(matches('b'), seen(text), 0)
  // the thread has started and evaluates the first one
  const isTwoSeconds = ({ ms }: { ms: number }) => ms === 2_000
  const limit = await waitFor(() => [...timers].find(isTwoSeconds), { label: 'the time limit of the evaluation' })
  limit.work()
  await dear
  t.match(await next, { verdict: 'passed' })
})

t.test('Large records of DNS are evaluated in the thread', async t => {
  const value = busyText().toString().slice(0, 60_000)
  const answer = { ...seen(Buffer.alloc(0)), headers: null, body: null, dns: { records: [{ type: 'TXT', value }] } }
  const assertions = [{ type: 'dns_record', operator: 'matches', value: 'TXT: ^[ab]+$' }]
  const evaluation = evaluateAssertions(assertions, answer as unknown as Observation, 0)
  t.ok(evaluation instanceof Promise)
  t.match(await evaluation, { verdict: 'passed' })
})

t.test('Tenants take turns in the thread, and one with too many large responses is refused alone', async t => {
  const page = seen(Buffer.alloc(MIB, 'a'))
  const finished: number[] = []
  const ask = async (tenant: number) => {
    await evaluateAssertions(matches('a$'), page, 0, tenant)
    finished.push(tenant)
  }
  const many = Promise.allSettled(Array.from({ length: 110 }, () => ask(1)))
  await ask(2)
  t.ok(finished.length <= 3, `${finished.length} evaluations until it was the turn of the other tenant`)
  const refused = (await many).flatMap(one => (one.status === 'rejected' ? String(one.reason) : []))
  t.equal(refused.length, 9)
  t.match(refused[0], /too many large responses/)
})

t.test('An invalid assertion is an internal failure without delay', async t => {
  t.throws(
    () => evaluateAssertions([{ type: 'nonsense', operator: 'equals', value: '' }], seen(Buffer.alloc(MIB)), 0),
    /not an assertion type/,
  )
})
