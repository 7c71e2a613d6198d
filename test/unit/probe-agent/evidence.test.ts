import { X509Certificate } from 'node:crypto'
import t from 'tap'
import { runCheck } from '../../../probe-agent/execution/run-check.ts'
import type { Auth } from '../../../shared/checks/check.ts'
import { Outcome } from '../../../shared/checks/result.ts'
import { createEgress } from '../../../shared/egress/index.ts'
import { createAuthority } from '../../support/certificates.ts'
import { attemptWithGrowingTimeout } from '../../support/growing-timeout.ts'
import { startFixedResponse, startRawServer } from '../../support/raw-server.ts'
import { createCheckSpec } from '../../support/spec.ts'
import { startTarget } from '../../support/target.ts'
import { startTlsServer } from '../../support/tls-server.ts'

const authority = createAuthority(t)
const egress = createEgress({ allow: ['127.0.0.1'], resolver: async () => ['127.0.0.1'], trust: [authority.ca] })

t.test('A check that is up or degraded has no evidence', async t => {
  const target = await startTarget(t)
  const slow = [{ type: 'response_time', operator: 'less_than', value: '0' }]
  t.match(await runCheck(createCheckSpec({ url: target.url }), egress), { outcome: Outcome.UP, evidence: undefined })
  t.match(await runCheck(createCheckSpec({ url: target.url, assertions: slow }), egress), {
    outcome: Outcome.DEGRADED,
    evidence: undefined,
  })
})

t.test('A failed check keeps the response headers with masked secrets and the first 4 KiB of the body', async t => {
  const target = await startTarget(t)
  target.behave({
    kind: 'answer',
    status: 503,
    headers: { 'Retry-After': '30', 'Set-Cookie': ['session=a', 'b=c'], 'X-Api-Key': 'k', Authorization: 'Bearer x' },
    body: Buffer.concat([Buffer.from([0, 0xff]), Buffer.alloc(10_000, 'e')]),
  })
  const { evidence, outcome } = await runCheck(createCheckSpec({ url: target.url }), egress)
  t.equal(outcome, Outcome.DOWN)
  t.match(evidence?.headers, {
    'retry-after': '30',
    'set-cookie': '********',
    'x-api-key': '********',
    authorization: '********',
  })
  t.same(evidence?.body, Buffer.concat([Buffer.from([0, 0xff]), Buffer.alloc(4094, 'e')]))
  t.same(evidence?.chain, [])
})

t.test('A body that fails an assertion or a keyword is evidence', async t => {
  const { url } = await startTarget(t)
  const assertions = [{ type: 'body', operator: 'equals', value: 'else' }]
  for (const spec of [
    createCheckSpec({ url, assertions }),
    createCheckSpec({ url, type: 'keyword', keyword: 'else' }),
  ]) {
    t.equal(String((await runCheck(spec, egress)).evidence?.body), 'ok')
  }
})

t.test('Secrets that a target echoes are masked', async t => {
  const rows: [auth: Auth['kind'], secrets: string[]][] = [
    [{ $case: 'basic', value: { username: 'ann', password: 'pässword' } }, ['pässword', 'YW5uOnDDpHNzd29yZA==']],
    [{ $case: 'bearerToken', value: 'tok-tok' }, ['tok-tok']],
    [{ $case: 'header', value: { name: 'X-Own', value: 'own-secret' } }, ['own-secret']],
  ]
  for (const [kind, secrets] of rows) {
    const all = [...secrets, 'from-a-header']
    const page = `before ${all.join(' and ')} after`
    const cut = `${'x'.repeat(4096 - 6)}${secrets[0]}`
    const target = await startTarget(t)
    const headers = { 'X-Session': 'from-a-header', 'X-Plain': 'shown' }
    target.behave({ kind: 'answer', status: 500, headers: { 'X-Echo': encodeURI(all.join(' ')) }, body: page })
    const check = () => runCheck(createCheckSpec({ url: target.url, headers, auth: { kind } }), egress)
    const seen = await check()
    const shown = JSON.stringify([seen.evidence?.headers, String(seen.evidence?.body)])
    for (const secret of all) t.notOk(shown.includes(secret), `${kind?.$case}: ${secret}`)
    t.match(String(seen.evidence?.body), /^before \*+ and .* after$/)
    target.behave({ kind: 'answer', status: 500, body: cut })
    const end = String((await check()).evidence?.body).slice(-20)
    t.notOk(end.includes(secrets[0]!.slice(0, 4)), 'nor the first part of one, where the body is cut')
  }
})

t.test('Evidence headers are limited', async t => {
  const many = Array.from({ length: 500 }, (_, i) => `X-${i}: ${'v'.repeat(80)}\r\n`).join('')
  const long = `X-Long: ${'v'.repeat(5_000)}\r\n__proto__: polluted\r\n`
  const port = await startFixedResponse(t, `HTTP/1.1 500 No\r\n${long}${many}Content-Length: 0\r\n\r\n`)
  const { evidence } = await runCheck(createCheckSpec({ url: `http://127.0.0.1:${port}/` }), egress)
  const headers = evidence?.headers ?? {}
  t.equal(headers['x-long']?.length, 1_000)
  t.equal(Object.entries(headers).find(([name]) => name === '__proto__')?.[1], 'polluted')
  t.ok(JSON.stringify(headers).length < 20_000)
})

t.test('An invalid certificate is reported with its complete chain', async t => {
  const leaf = authority.issueLong('other.example', 2)
  const port = await startTlsServer(t, leaf)
  const { evidence, observation, certificate } = await runCheck(
    createCheckSpec({ url: `https://shop.example:${port}/` }),
    egress,
  )
  t.match(observation.error, { code: 'tls_error', message: 'the certificate is for another host' })
  t.match(evidence?.chain, [
    { subject: 'CN=other.example', names: ['other.example'] },
    { subject: 'CN=Between 2' },
    { subject: 'CN=Between 1' },
  ])
  t.equal(certificate, undefined, 'and is separate only if the monitor has ssl_check')
})

t.test('The result contains the certificate if the monitor has ssl_check, up or not', async t => {
  for (const status of [200, 500]) {
    const pair = authority.issue('shop.example', -1, 5)
    const port = await startTlsServer(t, pair, status)
    const ran = await runCheck(createCheckSpec({ url: `https://shop.example:${port}/`, sslCheck: true }), egress)
    t.equal(ran.outcome, status === 200 ? Outcome.UP : Outcome.DOWN)
    t.match(ran.certificate, { subject: 'CN=shop.example', issuer: 'CN=Test authority', names: ['shop.example'] })
    t.equal(ran.certificate!.validToMs, Date.parse(new X509Certificate(pair.cert).validTo))
    t.equal(ran.evidence?.chain[0]?.subject, status === 200 ? undefined : 'CN=shop.example')
  }
  const target = await startTarget(t)
  t.equal((await runCheck(createCheckSpec({ url: target.url, sslCheck: true }), egress)).certificate, undefined)
})

t.test('The answer of a tcp target is evidence; an unreachable one has none', async t => {
  const port = await startRawServer(t, socket => socket.write('220 not what you seek\r\n'))
  const spec = createCheckSpec({ type: 'tcp', url: `127.0.0.1:${port}`, keyword: 'ready' })
  const { evidence } = await attemptWithGrowingTimeout(
    timeoutMs => runCheck({ ...spec, timeoutMs }, egress),
    ran => ran.evidence !== undefined,
  )
  t.equal(String(evidence?.body), '220 not what you seek\r\n')
  const closed = await startTarget(t)
  await closed.close()
  t.match(await runCheck(createCheckSpec({ url: closed.url }), egress), { outcome: Outcome.DOWN, evidence: undefined })
})
