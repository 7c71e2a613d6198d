import t from 'tap'
import { CHECKS } from '../../../probe-agent/checks/index.ts'
import { runCheck } from '../../../probe-agent/execution/run-check.ts'
import { type Auth, CHECK_TYPES, type CheckSpec, HTTP_METHODS } from '../../../shared/checks/check.ts'
import { FailureSource } from '../../../shared/checks/result.ts'
import { createEgress } from '../../../shared/egress/index.ts'
import { startRawServer } from '../../support/raw-server.ts'
import { createCheckSpec } from '../../support/spec.ts'
import { startTarget, startTcpTarget } from '../../support/target.ts'

const egress = createEgress({ allow: ['127.0.0.1'] })
const { signal } = new AbortController()

const check = (spec: CheckSpec) => CHECKS[spec.type as keyof typeof CHECKS](spec, signal, egress, 0)

t.test('Every check type has a check function', async t => {
  t.same(Object.keys(CHECKS).sort(), [...CHECK_TYPES].sort())
})

t.test('An http check succeeds with status 200 to 399', async t => {
  const target = await startTarget(t)
  const rows: [status: number, message: string | undefined][] = [
    [200, undefined],
    [204, undefined],
    [304, undefined],
    [399, undefined],
    [400, 'the target answered 400 Bad Request; expected 200 to 399'],
    [503, 'the target answered 503 Service Unavailable; expected 200 to 399'],
    [599, 'the target answered 599; expected 200 to 399'],
  ]
  for (const [status, message] of rows) {
    target.behave({ kind: 'answer', status })
    const { error, statusCode } = await check(createCheckSpec({ url: target.url }))
    t.equal(statusCode, status)
    t.equal(error?.message, message)
  }
})

t.test('A check reads a response that is not valid HTTP but that browsers read', async t => {
  const port = await startRawServer(t, socket => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\nServer: a\n b\n\nhello'))
  })
  const spec = createCheckSpec({ url: `http://127.0.0.1:${port}/` })
  t.match(await check(spec), { error: null, statusCode: 200 })
  t.match(await check({ ...spec, type: 'keyword', keyword: 'hello' }), { error: null, statusCode: 200 })
})

t.test('An assertion on the status replaces the default rule', async t => {
  const target = await startTarget(t)
  target.behave({ kind: 'answer', status: 404 })
  const assertions = [{ type: 'status_code', operator: 'equals', value: '404' }]
  t.match(await check(createCheckSpec({ url: target.url, assertions })), { error: null, statusCode: 404 })
})

t.test('An http check sends the monitor’s headers, body and credentials', async t => {
  const target = await startTarget(t)
  const rows: [auth: Auth['kind'], name: string, value: string][] = [
    [{ $case: 'basic', value: { username: 'ü', password: 'p:w' } }, 'authorization', 'Basic w7w6cDp3'],
    [{ $case: 'bearerToken', value: 'token' }, 'authorization', 'Bearer token'],
    [{ $case: 'header', value: { name: 'X-Key', value: 'secret' } }, 'x-key', 'secret'],
  ]
  for (const [kind, name, value] of rows) {
    const headers = { 'X-Own': 'a', authorization: 'Bearer stale', 'x-key': 'stale' }
    await check(createCheckSpec({ url: `${target.url}path?q`, method: 'DELETE', headers, auth: { kind } }))
    t.match(target.requests.at(-1), { method: 'DELETE', path: '/path?q', headers: { 'x-own': 'a', [name]: value } })
  }
})

t.test('An http check supports every method, with and without a body', async t => {
  const bodies: string[] = []
  const port = await startRawServer(t, socket =>
    socket.once('data', data => {
      bodies.push(`${data}`)
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
    }),
  )
  for (const method of HTTP_METHODS) {
    for (const body of [undefined, '{"a":"ü"}']) {
      const { error } = await check(
        createCheckSpec({ url: `http://127.0.0.1:${port}/`, method, ...(body && { body }) }),
      )
      t.equal(error, null, `${method} ${body}`)
      t.ok(bodies.at(-1)?.startsWith(`${method} / HTTP/1.1\r\n`))
      t.equal(bodies.at(-1)?.split('\r\n\r\n')[1], body ?? '')
    }
  }
})

t.test('Credentials in a custom header are not sent to another origin', async t => {
  const [from, to] = [await startTarget(t), await startTarget(t)]
  from.behave({ kind: 'redirect', to: to.url })
  const auth: Auth = { kind: { $case: 'header', value: { name: 'X-Key', value: 'secret' } } }
  t.equal((await check(createCheckSpec({ url: from.url, auth }))).error, null)
  t.equal(from.requests[0]?.headers['x-key'], 'secret')
  t.equal(to.requests[0]?.headers['x-key'], undefined)
})

t.test('Headers whose names suggest a secret are not sent to another origin', async t => {
  const [from, to] = [await startTarget(t), await startTarget(t)]
  from.behave({ kind: 'redirect', to: to.url })
  const headers = { 'X-Api-Key': 'secret', 'X-Plain': 'plain' }
  t.equal((await check(createCheckSpec({ url: from.url, headers }))).error, null)
  t.match(from.requests[0]?.headers, { 'x-api-key': 'secret', 'x-plain': 'plain' })
  t.match(to.requests[0]?.headers, { 'x-api-key': undefined, 'x-plain': 'plain' })
})

t.test('A body is kept completely only when an assertion needs it', async t => {
  const target = await startTarget(t)
  target.behave({ kind: 'answer', body: 'x'.repeat(10_000) })
  t.equal((await check(createCheckSpec({ url: target.url }))).body?.length, 4096)
  const assertions = [{ type: 'body', operator: 'contains', value: 'x' }]
  t.equal((await check(createCheckSpec({ url: target.url, assertions }))).body?.length, 10_000)
})

t.test('A keyword check and an assertion on the body read a page as browsers do', async t => {
  const target = await startTarget(t)
  const rows: [contentType: string, body: string][] = [
    ['text/html; charset=iso-8859-1', '5 \x80'],
    ['text/html', '<meta charset="iso-8859-1">5 \x80'],
  ]
  const assertions = [{ type: 'body', operator: 'contains', value: '5 €' }]
  for (const [contentType, text] of rows) {
    target.behave({ kind: 'answer', body: Buffer.from(text, 'latin1'), headers: { 'content-type': contentType } })
    const spec = createCheckSpec({ type: 'keyword', url: target.url, keyword: '5 €', assertions })
    const { observation, failedAssertions } = await runCheck(spec, egress)
    t.equal(observation.error, null, contentType)
    t.same(failedAssertions, [], contentType)
  }
})

t.test('A keyword check searches for its keyword', async t => {
  const target = await startTarget(t)
  const rows: [keywordType: string, keyword: string, body: string, code: string | undefined][] = [
    ['contains', 'well', 'all is well', undefined],
    ['contains', 'WELL', 'all is well', 'keyword_missing'],
    ['contains', 'a.l', 'all is well', 'keyword_missing'],
    ['contains', 'grüße', 'viele grüße', undefined],
    ['not_contains', 'error', 'all is well', undefined],
    ['not_contains', 'well', 'all is well', 'keyword_found'],
    ['regex', '^all.*well$', 'all is well', undefined],
    ['regex', '(?i)WELL', 'all is well', undefined],
    ['regex', '\\d', 'all is well', 'keyword_missing'],
    ['contains', 'end', `${'x'.repeat(1024 * 1024 - 3)}end`, undefined],
    ['contains', 'end', `${'x'.repeat(1024 * 1024)}end`, 'keyword_missing'],
  ]
  for (const [keywordType, keyword, body, code] of rows) {
    target.behave({ kind: 'answer', body })
    const { error } = await check(createCheckSpec({ type: 'keyword', url: target.url, keyword, keywordType }))
    t.equal(error?.code, code, `${keywordType} ${keyword}`)
  }
})

t.test('A keyword is found in the charset of the page', async t => {
  const target = await startTarget(t)
  const headers = { 'content-type': 'text/html; charset=iso-8859-1' }
  target.behave({ kind: 'answer', body: Buffer.from('grüße', 'latin1'), headers })
  t.equal((await check(createCheckSpec({ type: 'keyword', url: target.url, keyword: 'grüße' }))).error, null)
})

t.test('A keyword on an error page does not make the check succeed', async t => {
  const target = await startTarget(t)
  target.behave({ kind: 'answer', status: 500, body: 'all is well' })
  t.match(await check(createCheckSpec({ type: 'keyword', url: target.url, keyword: 'well' })), {
    error: { code: 'unexpected_status' },
  })
})

t.test('a keyword check without a keyword is our own fault', async t => {
  await t.rejects(check(createCheckSpec({ type: 'keyword', url: 'http://127.0.0.1/' })), /without a keyword/)
})

t.test('A tcp check connects for each form of a target', async t => {
  const target = await startTcpTarget(t, 'hello')
  for (const prefix of ['', 'tcp://', 'http://']) {
    const seen = await check(createCheckSpec({ type: 'tcp', url: `${prefix}127.0.0.1:${target.port}` }))
    t.match(seen, { error: null, resolvedIp: '127.0.0.1', statusCode: null, timings: { dnsUs: 0, tlsUs: 0 } })
    t.equal(seen.timings.connectUs, seen.totalUs)
  }
  t.equal(target.connections(), 3)
  await target.close()
  t.match(await check(createCheckSpec({ type: 'tcp', url: `127.0.0.1:${target.port}` })), {
    error: { code: 'connection_refused', source: FailureSource.TARGET },
    resolvedIp: null,
  })
})
