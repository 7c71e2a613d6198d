import t from 'tap'
import { FailureSource } from '../../../../shared/checks/result.ts'
import {
  createDeadline,
  createEgress,
  type HttpRequest,
  type HttpResponse,
  sendRequest,
} from '../../../../shared/egress/index.ts'
import { startBlackHole } from '../../../support/black-hole.ts'
import { attemptWithGrowingTimeout } from '../../../support/growing-timeout.ts'
import { startFixedResponse, startRawServer } from '../../../support/raw-server.ts'
import { startTarget } from '../../../support/target.ts'
import type { Teardown } from '../../../support/teardown.ts'
import { waitFor } from '../../../support/wait.ts'

const egress = createEgress({ allow: ['127.0.0.0/8', '::1/128'] })

async function ask(url: string, parts: Partial<HttpRequest> = {}, timeoutMs = 60_000): Promise<HttpResponse> {
  const deadline = createDeadline(timeoutMs)
  const defaults = { method: 'GET', headers: {}, body: null, maxBodyBytes: 1024 * 1024, followRedirects: true }
  const answer = await sendRequest({ url, signal: deadline.signal, ...defaults, ...parts }, egress)
  deadline.clear()
  return answer
}

const sum = (timings: HttpResponse['timings']) => Object.values(timings).reduce((a, b) => a + b, 0)

t.test('A response has its status, headers, body, address and timings that add up', async t => {
  const target = await startTarget(t)
  target.behave({ kind: 'answer', body: 'hello', headers: { 'X-Twice': ['a', 'b'] }, delayMs: 20 })
  const answer = await ask(target.url)
  t.match(answer, { error: null, statusCode: 200, resolvedIp: '127.0.0.1', truncated: false, redirects: 0 })
  t.equal(String(answer.body), 'hello')
  t.equal(answer.headers?.['x-twice'], 'a, b')
  t.equal(sum(answer.timings), answer.totalUs)
  t.ok(answer.timings.firstByteUs > 15_000, 'the wait is the first byte’s')
  t.match(answer.timings, { dnsUs: 0, tlsUs: 0 })
})

t.test('A request has its method, headers and body, and each header once', async t => {
  const seen = new Promise<string>(resolve => {
    startRawServer(t, socket => {
      let text = ''
      socket.on('data', chunk => {
        text += chunk
        if (!text.endsWith('héllo')) return
        resolve(text)
        socket.end('HTTP/1.1 204 No Content\r\n\r\n')
      })
    }).then(port => {
      const headers = { Host: 'other.example', 'X-Name': 'ö', 'Content-Length': '1', 'transfer-encoding': 'chunked' }
      return ask(`http://127.0.0.1:${port}/a?b=1#c`, { method: 'POST', headers, body: 'héllo' })
    })
  })
  const [head, body] = (await seen).split('\r\n\r\n')
  t.same(head?.split('\r\n'), [
    'POST /a?b=1 HTTP/1.1',
    'User-Agent: Picket/1 (uptime monitor)',
    'Host: other.example',
    'X-Name: ö',
    'Accept: */*',
    'Content-Length: 6',
    'Connection: close',
  ])
  t.equal(body, 'héllo')
})

t.test('A body over the limit is truncated, and the rest is not read', async t => {
  const target = await startTarget(t)
  target.behave({ kind: 'big', bytes: 1024 * 1024 * 1024 })
  const answer = await ask(target.url, { maxBodyBytes: 1000 })
  t.match(answer, { error: null, statusCode: 200, truncated: true })
  t.equal(answer.body?.length, 1000)
  target.behave({ kind: 'drip', everyMs: 1, endless: true })
  t.match(await ask(target.url, { maxBodyBytes: 20 }), { error: null, truncated: true })
})

t.test('A body of exactly the limit is complete', async t => {
  const target = await startTarget(t)
  target.behave({ kind: 'answer', body: 'x'.repeat(1000) })
  const answer = await ask(target.url, { maxBodyBytes: 1000 })
  t.equal(answer.truncated, false)
  t.equal(answer.body?.length, 1000)
})

t.test('The beginning of an unneeded body is kept, and the rest is only measured', async t => {
  const target = await startTarget(t)
  target.behave({ kind: 'drip', everyMs: 5, body: 'four' })
  const answer = await ask(target.url, { keepBody: false })
  t.match(answer, { error: null, body: Buffer.from('four') })
  t.ok(answer.timings.transferUs > 10_000)
  target.behave({ kind: 'big', bytes: 100_000, chunked: true })
  const big = await ask(target.url, { keepBody: false })
  t.match(big, { error: null, truncated: false })
  t.equal(big.body?.length, 4096)
})

type Hang = [when: string, start: (t: Teardown) => Promise<string>, message: RegExp, statusCode: number | null]

const hangs: Hang[] = [
  ['while connecting', async t => `http://127.0.0.1:${await startBlackHole(t)}/`, /while connecting/, null],
  [
    'while negotiating TLS',
    async t => `https://127.0.0.1:${await startRawServer(t, () => {})}/`,
    /while negotiating TLS/,
    null,
  ],
  [
    'before the headers',
    async t => `http://127.0.0.1:${await startRawServer(t, () => {})}/`,
    /while waiting for the response/,
    null,
  ],
  [
    'in the middle of the headers',
    async t => `http://127.0.0.1:${await startRawServer(t, socket => void socket.write('HTTP/1.1 200 OK\r\nA: '))}/`,
    /while waiting for the response/,
    null,
  ],
  [
    'in the middle of the body',
    async t => {
      const target = await startTarget(t)
      target.behave({ kind: 'hang', after: 'headers' })
      return target.url
    },
    /while receiving the response/,
    200,
  ],
  [
    'dripping without an end',
    async t => {
      const target = await startTarget(t)
      target.behave({ kind: 'drip', everyMs: 10, endless: true })
      return target.url
    },
    /while receiving the response/,
    200,
  ],
]

t.test('A target that hangs ends at the deadline, and the error names the phase', async t => {
  await Promise.all(
    hangs.map(async ([when, start, message, statusCode]) => {
      const url = await start(t)
      const attempt = async (timeoutMs: number) => {
        const startedMs = performance.now()
        const answer = await ask(url, {}, timeoutMs)
        t.ok(performance.now() - startedMs >= timeoutMs, when)
        return answer
      }
      const answer = await attemptWithGrowingTimeout(attempt, ({ error }) => message.test(error?.message ?? ''))
      t.match(answer, { error: { code: 'timeout', source: FailureSource.TARGET, message }, statusCode }, when)
      t.equal(sum(answer.timings), answer.totalUs, when)
    }),
  )
})

const broken: [what: string, bytes: string | Buffer, code: string][] = [
  ['closes without an answer', '', 'connection_reset'],
  ['speaks another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', 'invalid_response'],
  ['closes before the body is complete', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc', 'connection_reset'],
  ['breaks its chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc', 'invalid_response'],
  ['floods with headers', `HTTP/1.1 200 OK\r\n${'A: b\r\n'.repeat(100_000)}\r\n`, 'invalid_response'],
  ['sends one endless header', `HTTP/1.1 200 OK\r\nA: ${'b'.repeat(1_000_000)}`, 'invalid_response'],
  ['sends a header with a NUL', 'HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n', 'invalid_response'],
  ['changes the protocol', 'HTTP/1.1 101 Hello\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n', 'invalid_response'],
  ['declares gzip wrongly', 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nthis is not gzip', 'invalid_response'],
]

for (const [what, bytes, code] of broken) {
  t.test(`a target that ${what} fails as ${code}`, async t => {
    const answer = await ask(`http://127.0.0.1:${await startFixedResponse(t, bytes)}/`)
    t.match(answer.error, { code, source: FailureSource.TARGET })
    t.equal(sum(answer.timings), answer.totalUs)
  })
}

t.test('A refused and a reset connection have different errors', async t => {
  const target = await startTarget(t)
  target.behave({ kind: 'reset', after: 'connect' })
  t.equal((await ask(target.url)).error?.code, 'connection_reset')
  target.behave({ kind: 'reset', after: 'headers' })
  t.match(await ask(target.url), { error: { code: 'connection_reset' }, statusCode: 200 })
  await target.close()
  t.match((await ask(target.url)).error, { code: 'connection_refused', source: FailureSource.TARGET })
})

t.test('A private address is refused in every spelling', async t => {
  const target = await startTarget(t)
  const strict = createEgress({ allow: [] })
  for (const host of [
    '127.0.0.1',
    '0177.0.0.1',
    '2130706433',
    '127.1',
    '127。0。0。1',
    '[::ffff:127.0.0.1]',
    'localhost',
    '127.0.0.1.',
  ]) {
    const url = `http://${host}:${target.port}/`
    const parts = { method: 'GET', headers: {}, body: null, maxBodyBytes: 1, followRedirects: true }
    const { error } = await sendRequest({ url, ...parts, signal: new AbortController().signal }, strict)
    t.match(error, { code: 'blocked_target', source: FailureSource.TARGET }, host)
  }
  t.equal(target.requests.length, 0)
})

t.test('Protocols other than http and https are refused', async t => {
  for (const url of ['file:///etc/passwd', 'ftp://example.com/', 'data:,x', 'nonsense']) {
    t.throws(() => sendRequest({ url } as HttpRequest, egress), TypeError, url)
  }
})

t.test('No connection remains open after a failure', async t => {
  const handles = () => process.getActiveResourcesInfo().filter(name => /TCPSocket|TLSWrap/.test(name)).length
  await waitFor(() => handles() === 0, { label: 'no socket' })
  const port = await startRawServer(t, socket => void socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n')))
  for (const scheme of ['http', 'https']) await ask(`${scheme}://127.0.0.1:${port}/`, {}, 50)
  // The server's sockets of the same connections are in this process too; they close after the client's.
  await t.resolves(waitFor(() => handles() === 0, { label: 'no socket' }))
})
