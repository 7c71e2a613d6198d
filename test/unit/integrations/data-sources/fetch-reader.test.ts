import { gzipSync } from 'node:zlib'
import t from 'tap'
import { createSecretCipher } from '../../../../control-plane/foundation/platform/crypto/encryption.ts'
import {
  createOwnFaultDetector,
  type OwnFaultDetector,
} from '../../../../control-plane/foundation/platform/network/own-faults.ts'
import type { Db } from '../../../../control-plane/foundation/platform/postgres/client.ts'
import { evaluateRawDocument } from '../../../../control-plane/integrations/data-sources/evaluation/examine-reader.ts'
import type { ClaimedSource } from '../../../../control-plane/integrations/data-sources/fetching/claim-store.ts'
import { fetchSource } from '../../../../control-plane/integrations/data-sources/fetching/fetch-reader.ts'
import { checkUrls } from '../../../../control-plane/integrations/data-sources/fetching/http-reader.ts'
import type { FieldDefinition } from '../../../../control-plane/integrations/data-sources/types.ts'
import { toResolverFailure } from '../../../../shared/egress/failure.ts'
import { createEgress } from '../../../../shared/egress/index.ts'
import type { Egress } from '../../../../shared/egress/types.ts'
import { fetchDocument } from '../../../support/fetch-document.ts'
import { flood } from '../../../support/hostile-targets.ts'
import { startRawServer } from '../../../support/raw-server.ts'
import { type Behaviour, startTarget } from '../../../support/target.ts'

// takes about 25 s

const MIB = 1024 * 1024
const egress = createEgress({ allow: ['127.0.0.1/32'] })
const target = await startTarget(t)
const elsewhere = await startTarget(t)
const source = { url: target.url, method: 'GET' as const, body: null, rootPath: null, timeoutMs: 120_000 }

const fetchFrom = (behaviour: Behaviour, headers: Record<string, string> = {}, given: object = {}) => {
  target.behave(behaviour)
  return fetchDocument(egress, { ...source, ...given }, headers)
}
const answer = (body: string | Buffer, headers: Record<string, string> = {}): Behaviour => ({
  kind: 'answer',
  body,
  headers,
})
/** A JSON text of exactly this number of bytes. */
const buildText = (bytes: number) => `"${'x'.repeat(bytes - 2)}"`

t.test('A document is parsed as JSON, whatever its content type', async t => {
  const gzipped = answer(gzipSync('{"a":1}'), { 'content-encoding': 'gzip' })
  const cases: [Behaviour, unknown][] = [
    [answer('{"a":1}', { 'content-type': 'text/plain' }), { a: 1 }],
    [answer('\ufeff[1]'), [1]],
    [answer('null'), null],
    [gzipped, { a: 1 }],
    [
      answer(Buffer.from('{"é":"ü"}', 'latin1'), { 'content-type': 'application/json; charset=iso-8859-1' }),
      { é: 'ü' },
    ],
    [answer('{"a":1,"a":2}'), { a: 2 }],
  ]
  for (const [behaviour, document] of cases) t.same(await fetchFrom(behaviour), { document })
})

t.test('A key named __proto__ is a key like any other and changes no object', async t => {
  const fetched = await fetchFrom(answer('{"__proto__":{"polluted":true}}'))
  t.ok('document' in fetched && Object.hasOwn(fetched.document as object, '__proto__'))
  t.equal(({} as { polluted?: boolean }).polluted, undefined)
})

t.test('A response that is not a document gives a failure with its reason', async t => {
  const cases: [Behaviour, string, string][] = [
    [answer('<!doctype html><p>Hello'), 'not_json', 'the response is not JSON: it is an HTML page'],
    [answer('<status>ok</status>'), 'not_json', 'the response is not JSON: it is XML'],
    [answer('Not  here, sorry'), 'not_json', 'the response is not JSON: it begins with "Not here, sorry"'],
    [answer('  '), 'not_json', 'the response is empty, not a JSON document'],
    [answer('{"a":1,}'), 'not_json', 'the response is not JSON: syntax error at character 7'],
    [answer('{"a":'), 'not_json', 'the response is not JSON: it ends too early, or contains invalid syntax'],
    [answer('['.repeat(10_000) + ']'.repeat(10_000)), 'too_deep', 'the document is nested deeper than 500 levels'],
    [{ kind: 'answer', status: 500, body: '{}' }, 'http_status', 'the source responded with status 500'],
    [{ kind: 'answer', status: 304 }, 'http_status', 'the source responded with status 304'],
    [{ kind: 'reset', after: 'connect' }, 'connection_reset', 'the target closed the connection'],
  ]
  for (const [behaviour, code, message] of cases) {
    t.same(await fetchFrom(behaviour), { failure: { code, message, isOurFault: false } })
  }
})

t.test('A source that does not respond in time gives a timeout', async t => {
  const fetched = await fetchFrom({ kind: 'hang', after: 'connect' }, {}, { timeoutMs: 5_000 })
  t.match(fetched, { failure: { code: 'timeout', isOurFault: false } })
})

t.test('A document of 5 MiB is read and a larger one is refused, compressed or not', async t => {
  t.ok('document' in (await fetchFrom(answer(buildText(5 * MIB)))))
  const tooLarge = { failure: { code: 'too_large', message: 'the document is larger than 5 MiB', isOurFault: false } }
  t.same(await fetchFrom(answer(buildText(5 * MIB + 1))), tooLarge)
  t.same(await fetchFrom(answer(gzipSync(buildText(5 * MIB + 1)), { 'content-encoding': 'gzip' })), tooLarge)
})

t.test('A gigabyte of gzip and an endless body use little memory', async t => {
  const bomb = Buffer.concat(Array<Buffer>(64).fill(gzipSync(Buffer.alloc(16 * MIB, ' '))))
  const before = process.memoryUsage().rss
  t.match(await fetchFrom(answer(bomb, { 'content-encoding': 'gzip' })), { failure: { code: 'too_large' } })
  const url = `http://127.0.0.1:${await startRawServer(t, flood)}/`
  t.match(await fetchDocument(egress, { ...source, url }, {}), { failure: { code: 'too_large' } })
  t.ok(process.memoryUsage().rss - before < 300 * MIB)
})

t.test('A redirect to a private address is refused in every spelling', async t => {
  for (const to of ['http://169.254.169.254/latest', 'http://[::ffff:10.0.0.1]/', 'http://0x7f000002/']) {
    t.match(await fetchFrom({ kind: 'redirect', to }), { failure: { code: 'blocked_target', isOurFault: false } })
  }
  t.match(await fetchFrom({ kind: 'redirect', to: 'file:///etc/passwd' }), { failure: { code: 'invalid_redirect' } })
})

t.test('A redirect to another origin sends no headers that could be secrets', async t => {
  elsewhere.behave(answer('{}'))
  const headers = { Authorization: 'Bearer x', 'X-Anything': 'secret', Accept: 'application/json' }
  t.same(await fetchFrom({ kind: 'redirect', to: elsewhere.url }, headers), { document: {} })
  const { headers: seen } = elsewhere.requests.at(-1)!
  t.match(target.requests.at(-1)!.headers, { authorization: 'Bearer x', 'x-anything': 'secret' })
  t.same([seen.authorization, seen['x-anything'], seen.accept], [undefined, undefined, 'application/json'])
})

t.test('A cancelled fetch is not a fault of the source', async t => {
  const cancelled = new AbortController()
  const fetching = fetchDocument(egress, { ...source, url: target.url }, {}, cancelled.signal)
  target.behave({ kind: 'hang', after: 'connect' })
  cancelled.abort()
  t.match(await fetching, { failure: { isOurFault: true } })
})

t.test('Each URL is checked, a redirect counts as a response and silence does not', async t => {
  target.behaveAt('/ok', { kind: 'answer' })
  target.behaveAt('/moved', { kind: 'redirect', to: 'http://169.254.169.254/' })
  target.behaveAt('/broken', { kind: 'answer', status: 503 })
  target.behaveAt('/silent', { kind: 'hang', after: 'connect' })
  const url = (path: string) => `${target.url}${path}`
  const urls = ['ok', 'moved', 'broken', 'silent'].map(url)
  const answers = await checkUrls(egress, [...urls, 'http://10.0.0.1/'], { timeoutMs: 5_000 })
  t.same(answers.get(url('ok')), { isOk: true, message: 'responds with 200' })
  t.same(answers.get(url('moved')), { isOk: true, message: 'responds with 302' })
  t.same(answers.get(url('broken')), { isOk: false, message: 'responds with 503' })
  t.equal(answers.get(url('silent'))?.isOk, false)
  const message = 'could not be requested: 10.0.0.1 is a private address and cannot be a target'
  t.same(answers.get('http://10.0.0.1/'), { isOk: null, message }, 'an address that the guard refuses is unknown')
})

t.test('A URL that loses one connection is requested again, and a status decides at once', async t => {
  const url = (path: string) => `${target.url}${path}`
  target.behaveAt('/healthy', { kind: 'answer' })
  target.behaveOnce({ kind: 'reset', after: 'connect' })
  t.same((await checkUrls(egress, [url('healthy')], { timeoutMs: 5_000 })).get(url('healthy')), {
    isOk: true,
    message: 'responds with 200',
  })
  target.behaveAt('/broken', { kind: 'answer', status: 503 })
  target.behaveAt('/cut', { kind: 'reset', after: 'connect' })
  const before = target.requests.length
  const answers = await checkUrls(egress, [url('broken'), url('cut')], { timeoutMs: 5_000 })
  t.equal(answers.get(url('cut'))?.isOk, false)
  t.same(
    target.requests
      .slice(before)
      .map(({ path }) => path)
      .sort(),
    ['/broken', '/cut', '/cut'],
  )
})

t.test('A URL is unknown, not down, when the time for all URLs ends before its own', async t => {
  target.behaveAt('/silent', { kind: 'hang', after: 'connect' })
  const urls = Array.from({ length: 40 }, (_, i) => `${target.url}silent?${i}`)
  const answers = await checkUrls(egress, urls, { timeoutMs: 10_000, totalTimeoutMs: 500 })
  const message = 'could not be requested in time, because other URLs took too long'
  t.same(
    [...answers.values()],
    urls.map(() => ({ isOk: null, message })),
  )
})

t.test('When no URL of a document responds, they are down only if the host of the document can be reached', async t => {
  const field = { id: 'f', path: '*', nameTemplate: '{{key}}', ruleConfig: {}, degradedRuleConfig: null }
  const read = (url: string, document: object) =>
    evaluateRawDocument(
      egress,
      { projectId: 'p', url, rootPath: null, fields: [{ ...field, ruleType: 'http_ok' }], timeoutMs: 10_000 },
      { body: Buffer.from(JSON.stringify(document)), headers: null },
      'source',
    )
  const outcomes = (examined: Awaited<ReturnType<typeof read>>) =>
    'failure' in examined ? examined.failure : examined.evaluation.children.map(({ outcome }) => outcome)
  const unreachable = 'http://127.0.0.1:9/status.json'
  target.behaveAt('/cut', { kind: 'reset', after: 'connect' })
  target.behaveAt('/broken', { kind: 'answer', status: 503 })
  const [cut, broken] = [`${target.url}cut`, `${target.url}broken`]
  const silent = { a: cut, b: 'http://127.0.0.1:9/b', refused: 'http://10.0.0.1/' }

  const message =
    'none of the URLs in the document responds, and its host cannot be reached: the target refused the connection'
  t.same(outcomes(await read(unreachable, silent)), { code: 'connection_refused', message, isOurFault: false })
  t.same(outcomes(await read(unreachable, { ...silent, broken })), ['down', 'down', 'down', 'unknown'], 'one responds')
  t.same(outcomes(await read(unreachable, { broken })), ['down'], 'a status is a response')

  const answering = `${elsewhere.url}status.json`
  elsewhere.behave({ kind: 'answer', status: 401 })
  t.same(outcomes(await read(answering, silent)), ['down', 'down', 'unknown'])
  elsewhere.behave({ kind: 'reset', after: 'connect' })
  t.same(outcomes(await read(answering, { cut })), ['down'], 'a connection is enough')
})

const secrets = createSecretCipher(Buffer.alloc(32))

/** A claimed source whose document has one field. */
function claimed(changes: object, rule: Pick<FieldDefinition, 'ruleType' | 'ruleConfig'>): ClaimedSource {
  const field = { id: 'f', path: 'written', nameTemplate: '{{key}}', ...rule, degradedRuleConfig: null }
  const request = { ...source, headers: null, authType: null, authConfig: null, ...changes }
  const state = { revision: 1, failures: 0, lastError: null, incidentId: null, seenHash: null }
  const due = { fetchIntervalS: 60, dueAt: '', lateMs: 0, ...state }
  return { id: 's', projectId: 'p', name: 'Cells', ...request, ...due, fields: [field] }
}

/** Fetches a claimed source. The database is only read for documents with too many keys. */
const fetchClaimed = (one: ClaimedSource, tools: { egress: Egress; ownFaults: OwnFaultDetector }) =>
  fetchSource({ db: {} as Db, secrets, ...tools }, one, new AbortController().signal)

t.test('A fetch during which this process was blocked does not judge the age of values', async t => {
  const fetchAfter = (blockedMs: number, timeoutMs: number, rule: Pick<FieldDefinition, 'ruleType' | 'ruleConfig'>) => {
    const body = () => {
      const [writtenAt, endMs] = [new Date().toISOString(), performance.now() + blockedMs]
      while (performance.now() < endMs);
      return JSON.stringify({ written: writtenAt })
    }
    target.behave({ kind: 'answer', body })
    return fetchClaimed(claimed({ timeoutMs }, rule), { egress, ownFaults: createOwnFaultDetector() })
  }
  const age = (max: number) => ({ ruleType: 'diff_lte' as const, ruleConfig: { other_path: 'now', max } })
  const up = { children: [{ key: 'written', outcome: 'up' }] }
  t.match((await fetchAfter(0, 120_000, age(3_600))).result, up)
  t.match((await fetchAfter(2_000, 500, age(1))).result, { failure: { code: 'blocked', isOurFault: true } })
  t.match((await fetchAfter(2_000, 500, { ruleType: 'truthy', ruleConfig: {} })).result, up, 'needs no time')
})

t.test('A resolver that fails for three domains is a fault of Picket, and a failure of one name is not', async t => {
  let fails = true
  const resolver = async () => {
    if (fails) throw toResolverFailure('ESERVFAIL')
    return ['127.0.0.1']
  }
  const tools = { egress: createEgress({ allow: ['127.0.0.1/32'], resolver }), ownFaults: createOwnFaultDetector() }
  const { port } = new URL(target.url)
  const fetchFromHost = (host: string) =>
    fetchClaimed(claimed({ url: `http://${host}:${port}/` }, { ruleType: 'truthy', ruleConfig: {} }), tools)
  const faults = []
  for (const host of ['a.example', 'b.example', 'x.b.example', 'c.example'])
    faults.push((await fetchFromHost(host)).result)
  t.match(faults, [
    { failure: { isOurFault: false } },
    { failure: { isOurFault: false } },
    { failure: { isOurFault: false } },
    { failure: { isOurFault: true, message: /^Picket could not fetch the source: / } },
  ])
  fails = false
  target.behave(answer('{"written":1}'))
  t.match((await fetchFromHost('a.example')).result, { children: [{ outcome: 'up' }] })
  fails = true
  t.match(
    (await fetchFromHost('b.example')).result,
    { failure: { isOurFault: false } },
    'the resolver has worked meanwhile',
  )
})
