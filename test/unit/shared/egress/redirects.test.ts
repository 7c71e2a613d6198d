import type { IncomingMessage } from 'node:http'
import t from 'tap'
import { formatCookies, NO_COOKIES, storeCookies } from '../../../../shared/egress/http/cookies.ts'
import { prepareRequest } from '../../../../shared/egress/http/prepare.ts'
import { followRedirect, readRedirect } from '../../../../shared/egress/http/redirect.ts'
import { createDeadline, createEgress, type HttpRequest, sendRequest } from '../../../../shared/egress/index.ts'
import { startTarget, startTcpTarget } from '../../../support/target.ts'

const latin1 = (text: string) => Buffer.from(text, 'utf8').toString('latin1')
const utf8 = (text = '') => Buffer.from(text, 'latin1').toString('utf8')

const egress = createEgress({ allow: ['127.0.0.1'] })

async function ask(url: string, parts: Partial<HttpRequest> = {}) {
  const deadline = createDeadline(60_000)
  const defaults = { method: 'GET', headers: {}, body: null, maxBodyBytes: 1000, followRedirects: true }
  const answer = await sendRequest({ url, signal: deadline.signal, ...defaults, ...parts }, egress)
  deadline.clear()
  return answer
}

t.test('A redirect is followed, and the timings of all hops add up', async t => {
  const target = await startTarget(t)
  target.behaveAt('/a', { kind: 'redirect', to: '/b' })
  target.behaveAt('/b', { kind: 'redirect', to: `http://127.0.0.1:${target.port}/c`, status: 308 })
  const answer = await ask(`${target.url}a`)
  t.match(answer, { error: null, statusCode: 200, redirects: 2, body: Buffer.from('ok') })
  t.equal(
    Object.values(answer.timings).reduce((a, b) => a + b, 0),
    answer.totalUs,
  )
  t.same(
    target.requests.map(({ path }) => path),
    ['/a', '/b', '/c'],
  )
})

t.test('Ten redirects are followed; an eleventh or a loop is an error', async t => {
  const target = await startTarget(t)
  for (let i = 0; i < 11; i++) target.behaveAt(`/${i}`, { kind: 'redirect', to: `/${i + 1}` })
  t.match(await ask(`${target.url}1`), { error: null, redirects: 10 })
  t.match(await ask(`${target.url}0`), { error: { code: 'too_many_redirects' }, statusCode: 302 })
  target.behaveAt('/circle', { kind: 'redirect', to: '/circle' })
  t.match(await ask(`${target.url}circle`), { error: { code: 'too_many_redirects' } })
})

t.test('A redirect to a private address is refused', async t => {
  const target = await startTarget(t)
  for (const to of ['http://127.0.0.2/', 'http://169.254.169.254/latest/', 'http://[::1]/', 'http://2130706434/']) {
    target.behave({ kind: 'redirect', to })
    t.match(await ask(target.url), { error: { code: 'blocked_target' }, redirects: 1 }, to)
  }
})

t.test('The answer of a redirect says nothing about a target behind it that does not answer', async t => {
  const [target, closed] = [await startTarget(t), await startTcpTarget(t)]
  await closed.close()
  target.behave({ kind: 'redirect', to: `http://127.0.0.1:${closed.port}/` })
  t.match(await ask(target.url), {
    ...{ error: { code: 'connection_refused' }, redirects: 1 },
    ...{ statusCode: null, headers: null, resolvedIp: null, certificate: null },
  })
})

t.test('A redirect to another protocol is an error', async t => {
  const target = await startTarget(t)
  for (const to of ['file:///etc/passwd', 'gopher://127.0.0.1/', 'http://:bad', 'javascript:1']) {
    target.behave({ kind: 'redirect', to })
    t.match(await ask(target.url), { error: { code: 'invalid_redirect' } }, to)
  }
})

t.test('A redirect is a normal response when it is not followed or has no location', async t => {
  const target = await startTarget(t)
  target.behave({ kind: 'redirect', to: '/elsewhere' })
  t.match(await ask(target.url, { followRedirects: false }), { error: null, statusCode: 302, redirects: 0 })
  target.behave({ kind: 'answer', status: 302 })
  t.match(await ask(target.url), { error: null, statusCode: 302 })
  target.behave({ kind: 'answer', status: 304, headers: { location: '/x' } })
  t.match(await ask(target.url), { error: null, statusCode: 304 })
})

t.test('Credentials are not sent to another origin', async t => {
  const [from, to] = [await startTarget(t), await startTarget(t)]
  from.behaveAt('/same', { kind: 'redirect', to: '/here' })
  from.behaveAt('/other', { kind: 'redirect', to: to.url })
  const headers = { Authorization: 'Bearer s', Cookie: 'a=b', 'X-Key': 'k', 'X-Plain': 'p' }
  await ask(`${from.url}same`, { headers, credentialHeaders: ['X-Key'] })
  t.match(from.requests.at(-1)?.headers, { authorization: 'Bearer s', cookie: 'a=b', 'x-key': 'k', 'x-plain': 'p' })
  await ask(`${from.url}other`, { headers, credentialHeaders: ['X-Key'] })
  const seen = to.requests[0]!.headers
  t.equal(seen['x-plain'], 'p')
  for (const name of ['authorization', 'cookie', 'x-key']) t.equal(seen[name], undefined, name)
})

const methods: [method: string, status: number, becomes: string, keepsBody: boolean][] = [
  ['GET', 301, 'GET', false],
  ['HEAD', 303, 'HEAD', false],
  ['POST', 301, 'GET', false],
  ['POST', 302, 'GET', false],
  ['POST', 303, 'GET', false],
  ['POST', 307, 'POST', true],
  ['POST', 308, 'POST', true],
  ['PUT', 302, 'PUT', true],
  ['PUT', 303, 'GET', false],
  ['DELETE', 303, 'GET', false],
]

t.test('Redirects change method and body as in browsers', async t => {
  for (const [method, status, becomes, keepsBody] of methods) {
    const body = ['POST', 'PUT'].includes(method) ? 'text' : null
    const from = prepareRequest({ url: 'http://a.example/', method, headers: { 'Content-Type': 'text/plain' }, body })
    const next = followRedirect(from, { statusCode: status, location: '/next', setCookie: [] }, 0)
    t.equal(next.method, becomes, `${method} ${status}`)
    t.equal(next.body?.toString(), keepsBody ? 'text' : undefined, `${method} ${status}`)
    t.equal(next.url.href, 'http://a.example/next')
  }
})

t.test('User names in a redirect are not sent, and its path is decoded as UTF-8', async t => {
  const from = prepareRequest({ url: 'http://a.example/', method: 'GET', headers: {}, body: null })
  const location = Buffer.from('http://u:p@b.example/ö').toString('latin1')
  const next = followRedirect(from, readRedirect({ statusCode: 302, headers: { location } } as IncomingMessage)!, 0)
  t.equal(next.url.href, 'http://b.example/%C3%B6')
  t.notOk(next.headers.some(text => /authorization/i.test(text)))
})

t.test('A server that redirects until its cookie arrives is up', async t => {
  const target = await startTarget(t)
  const set = { location: '/two', 'set-cookie': ['seen=1; Path=/; HttpOnly', 'place=Zürich', 'bad=a\tb'] }
  target.behaveAt('/one', {
    kind: 'answer',
    status: 302,
    headers: { ...set, 'set-cookie': set['set-cookie'].map(latin1) },
  })
  target.behaveAt('/two', { kind: 'redirect', to: '/three' })
  t.match(await ask(`${target.url}one`, { headers: { cookie: 'own=2; seen=0' } }), { error: null, redirects: 2 })
  const cookies = target.requests.map(({ headers }) => utf8(headers.cookie))
  t.same(cookies, ['own=2; seen=0', 'own=2; seen=1; place=Zürich', 'own=2; seen=1; place=Zürich'])

  target.behaveAt('/four', { kind: 'answer', status: 302, headers: { location: '/three', 'set-cookie': 'next=1' } })
  await ask(`${target.url}four`)
  t.equal(target.requests.at(-1)?.headers.cookie, 'next=1')
  await ask(`${target.url}two`)
  t.equal(target.requests.at(-1)?.headers.cookie, undefined, 'not kept for the next check')
})

const URL_A = new URL('https://a.example/x')
const cases: [name: string, setCookie: string[], url: string, sent: string][] = [
  ['another path and port of the host', ['a=1; Path=/x'], 'https://a.example:8443/y', 'a=1'],
  ['another host', ['a=1; Domain=example'], 'https://b.example/', ''],
  ['a subdomain', ['a=1; Domain=a.example'], 'https://c.a.example/', ''],
  ['a secure cookie without TLS', ['a=1; Secure', 'b=2'], 'http://a.example/', 'b=2'],
  ['a value with "="', ['a=b=c==; SameSite=Lax'], 'https://a.example/', 'a=b=c=='],
  ['an empty value', ['a=', 'b'], 'https://a.example/', 'a=; b='],
  ['without a name', ['=1', '', ';'], 'https://a.example/', ''],
  ['a replaced one', ['a=1', 'b=2', 'a=3'], 'https://a.example/', 'a=3; b=2'],
  [
    'one that is deleted by Max-Age',
    ['a=1', 'a=; Max-Age=0; Expires=Fri, 01 Jan 2100 00:00:00 GMT'],
    'https://a.example/',
    '',
  ],
  ['one that is deleted by Expires', ['a=1', 'a=x; expires=Thu, 01-Jan-1970 00:00:01 GMT'], 'https://a.example/', ''],
  ['one that expires later', ['a=1; Max-Age=60; Expires=Thu, 01-Jan-1970 00:00:01 GMT'], 'https://a.example/', 'a=1'],
  ['a date that cannot be read', ['a=1; Expires=soon; Max-Age=x'], 'https://a.example/', 'a=1'],
  ['one that is too long', [`a=${'x'.repeat(4_096)}`, 'b=2'], 'https://a.example/', 'b=2'],
]

t.test('Cookies are sent to the host that set them', async t => {
  for (const [name, setCookie, url, sent] of cases)
    t.equal(formatCookies(storeCookies(NO_COOKIES, URL_A, setCookie, 1_000_000), new URL(url), ''), sent, name)
  const many = Array.from({ length: 60 }, (_, i) => `c${i}=1`)
  const stored = storeCookies(NO_COOKIES, URL_A, many, 0)
  t.equal(formatCookies(stored, URL_A, '').split('; ').length, 50, 'at most 50')
  const both = storeCookies(stored, new URL('https://b.example/'), ['b=1'], 0)
  t.equal(formatCookies(both, new URL('https://b.example/'), 'own=1; b=0;'), 'own=1; b=1', 'each host has its own')
})
