import { RE2JS } from 're2js'
import t from 'tap'
import { createAssertionEvaluator } from '../../../probe-agent/execution/assertion-worker.ts'
import type { Observation } from '../../../shared/checks/result.ts'
import type { Teardown } from '../../support/teardown.ts'
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

/** Counts the expressions that are compiled on the event loop during a test. */
function countCompilations(t: Teardown): { count: number } {
  const { compile } = RE2JS
  const compiled = { count: 0 }
  RE2JS.compile = (...given: Parameters<typeof compile>) => {
    compiled.count++
    return compile.apply(RE2JS, given)
  }
  t.teardown(() => {
    RE2JS.compile = compile
  })
  return compiled
}

const notMatching = (patterns: string[]) => patterns.map(value => ({ type: 'body', operator: 'not_matches', value }))
const numbered = (count: number, toPattern: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => toPattern(i))

t.test('Many large expressions are compiled and evaluated in the thread, also on a small response', async t => {
  const compiled = countCompilations(t)
  const monitors = numbered(6, String).map(monitor => notMatching(numbered(50, i => `\\pL{980}${monitor}x${i}`)))
  for (let round = 0; round < 2; round++) {
    for (const assertions of monitors) {
      const evaluation = evaluateAssertions(assertions, seen(Buffer.from('ab')), 0)
      t.ok(evaluation instanceof Promise)
      t.match(await evaluation, { verdict: 'passed' })
    }
  }
  t.equal(compiled.count, 0)
})

t.test('Few small expressions are evaluated inline from the first check on', async t => {
  const compiled = countCompilations(t)
  const assertions = notMatching([
    '(?i)(error|exception|fatal|panic)',
    '"version":\\s*"(\\d+)\\.(\\d+)"',
    '[a-f0-9]{8}',
    'a$',
  ])
  for (let check = 0; check < 3; check++) {
    t.same(evaluateAssertions(assertions, seen(Buffer.from('x'.repeat(500))), 0), { verdict: 'passed', failed: [] })
  }
  t.equal(compiled.count, assertions.length, 'each is compiled once')
})

t.test('Many small expressions are compiled inline during several checks, and then evaluated inline', async t => {
  const compiled = countCompilations(t)
  const assertions = notMatching(numbered(100, i => `order ${i} [a-z]{20} failed`))
  const page = seen(Buffer.from('x'))
  const counts: number[] = []
  for (let check = 0; check < 20; check++) {
    const before = compiled.count
    const evaluation = evaluateAssertions(assertions, page, 0)
    counts.push(compiled.count - before)
    if (!(evaluation instanceof Promise)) break
    t.match(await evaluation, { verdict: 'passed' })
  }
  t.equal(compiled.count, assertions.length, 'each is compiled once')
  t.ok(counts.length > 2 && counts.length < 20, `${counts} in the checks`)
})

t.test('An invalid expression is refused, also when the value is missing', async t => {
  const missing = [{ type: 'header', operator: 'matches', value: 'x-none: (' }]
  t.throws(() => evaluateAssertions(missing, seen(Buffer.from('a')), 0), /error parsing regexp/)
  const large = [{ type: 'header', operator: 'matches', value: `x-none: (?:\\pL{980}){3}` }]
  await t.rejects(async () => evaluateAssertions(large, seen(Buffer.from('a')), 0), /too large|invalid repeat/)
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
