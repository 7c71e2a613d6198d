import t from 'tap'
import { prepareRequest } from '../../../../shared/egress/http/prepare.ts'
import { followRedirect } from '../../../../shared/egress/http/redirect.ts'
import { createDeadline, createEgress, type HttpRequest, sendRequest } from '../../../../shared/egress/index.ts'
import { startTarget, startTcpTarget } from '../../../support/target.ts'

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
    const next = followRedirect(from, status, '/next')
    t.equal(next.method, becomes, `${method} ${status}`)
    t.equal(next.body?.toString(), keepsBody ? 'text' : undefined, `${method} ${status}`)
    t.equal(next.url.href, 'http://a.example/next')
  }
})

t.test('User names in a redirect are not sent, and its path is decoded as UTF-8', async t => {
  const from = prepareRequest({ url: 'http://a.example/', method: 'GET', headers: {}, body: null })
  const next = followRedirect(from, 302, Buffer.from('http://u:p@b.example/ö').toString('latin1'))
  t.equal(next.url.href, 'http://b.example/%C3%B6')
  t.notOk(next.headers.some(text => /authorization/i.test(text)))
})
