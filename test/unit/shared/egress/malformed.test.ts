import t from 'tap'
import { FailureSource } from '../../../../shared/checks/result.ts'
import {
  createConnections,
  createDeadline,
  createEgress,
  type HttpRequest,
  type HttpResponse,
  sendRequest,
} from '../../../../shared/egress/index.ts'
import { startFixedResponse } from '../../../support/raw-server.ts'

const egress = createEgress({ allow: ['127.0.0.0/8'] })

async function ask(url: string, parts: Partial<HttpRequest>): Promise<HttpResponse> {
  const deadline = createDeadline(60_000)
  const defaults = { method: 'GET', headers: {}, body: null, maxBodyBytes: 1024 * 1024, followRedirects: true }
  const answer = await sendRequest({ url, signal: deadline.signal, ...defaults, ...parts }, egress)
  deadline.clear()
  return answer
}

const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`
const CHUNKS = '5\r\nhello\r\n0\r\n\r\n'

/** Not valid HTTP, but curl and browsers read it. */
const accepted: [what: string, bytes: string, body: string][] = [
  ['a chunk size with spaces after it', `${CHUNKED}5  \r\nhello\r\n0\r\n\r\n`, 'hello'],
  ['a chunk size with a tab after it', `${CHUNKED}5\t\r\nhello\r\n0\r\n\r\n`, 'hello'],
  ['a chunk size that counts the carriage return', `${CHUNKED}6\r\nhello\r\n0\r\n\r\n`, 'hello\r'],
  ['lines that end with LF only', 'HTTP/1.1 200 OK\nContent-Length: 5\n\nhello', 'hello'],
  ['lines that end with LF only, without a length', 'HTTP/1.0 200 OK\nContent-Type: text/plain\n\nhello', 'hello'],
  ['headers that end with LF only before chunks', `HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n${CHUNKS}`, 'hello'],
  ['an early hint that ends with LF only', `HTTP/1.1 103 Early Hints\n\n${OK}Content-Length: 5\r\n\r\nhello`, 'hello'],
  ['a folded header', `${OK}A: b\r\n c\r\nContent-Length: 5\r\n\r\nhello`, 'hello'],
  ['a header that is folded with a tab', `${OK}A: b\r\n\tc\r\nContent-Length: 5\r\n\r\nhello`, 'hello'],
  ['a control character in a header', `${OK}A: b\x01c\r\nContent-Length: 5\r\n\r\nhello`, 'hello'],
  ['a length before chunks', `${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKS}`, 'hello'],
  ['a length after chunks', `${OK}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n${CHUNKS}`, 'hello'],
  [
    'chunks and a length that differs',
    `${OK}Content-Length: 99\r\nTransfer-Encoding: Chunked\r\n\r\n${CHUNKS}`,
    'hello',
  ],
]

for (const [what, bytes, body] of accepted) {
  t.test(`A check reads a response with ${what}; other requests refuse it`, async t => {
    const url = `http://127.0.0.1:${await startFixedResponse(t, bytes)}/`
    const read = await ask(url, { acceptMalformed: true })
    t.match(read, { error: null, statusCode: 200 })
    t.equal(String(read.body), body)
    const connections = createConnections(1)
    t.teardown(() => connections.close())
    for (const parts of [{}, { acceptMalformed: true, keepAlive: true, connections }]) {
      const { error } = await ask(url, parts)
      t.match(error, { code: 'invalid_response', source: FailureSource.TARGET })
    }
  })
}

const LENGTH_AND_CHUNKS = `${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`

/** Broken, and refused by every request. */
const refused: [what: string, bytes: string, code: string][] = [
  ['no bytes', '', 'connection_reset'],
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', 'invalid_response'],
  ['HTML without headers', '<html>hello</html>', 'invalid_response'],
  ['a request', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', 'invalid_response'],
  ['an unknown version', 'HTTP/9.9 200 OK\r\nContent-Length: 5\r\n\r\nhello', 'invalid_response'],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\nContent-Length: 5\r\n\r\nhello', 'invalid_response'],
  ['a status line only', OK, 'connection_reset'],
  ['headers that are cut off', `${OK}Content-Length: 0\r\n`, 'connection_reset'],
  ['headers with LF that are cut off', 'HTTP/1.1 200 OK\nContent-Length: 0\n', '(connection_reset|invalid_response)'],
  ['a header without a colon', `${OK}hello\r\n\r\nhello`, 'invalid_response'],
  ['a folded line before any header', `${OK} hello\r\n\r\nhello`, 'invalid_response'],
  ['a NUL in a header', `${OK}A: b\0c\r\n\r\nhello`, 'invalid_response'],
  ['a NUL in a folded header', `${OK}A: b\r\n \0c\r\n\r\nhello`, 'invalid_response'],
  ['a NUL in the name of a header', `${OK}A\0b: c\r\n\r\nhello`, 'invalid_response'],
  ['a NUL in a trailer', `${CHUNKED}5\r\nhello\r\n0\r\nA: \0\r\n\r\n`, 'invalid_response'],
  ['too many headers', `${OK}${'A: b\r\n'.repeat(100_000)}\r\n`, 'invalid_response'],
  ['one folded header without end', `${OK}A: b\r\n${' b\r\n'.repeat(100_000)}\r\n`, 'invalid_response'],

  ['fewer bytes than its length', `${OK}Content-Length: 9\r\n\r\nhello`, 'connection_reset'],
  ['fewer bytes, with LF', 'HTTP/1.1 200 OK\nContent-Length: 9\n\nhello', '(connection_reset|invalid_response)'],
  ['two lengths', `${OK}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`, 'invalid_response'],
  ['a folded length', `${OK}Content-Length: 5\r\n 5\r\n\r\nhello`, 'invalid_response'],
  ['a length that is not a number', `${OK}Content-Length: five\r\n\r\nhello`, 'invalid_response'],
  ['a length with a control character', `${OK}Content-Length: 9\x01\r\n\r\nhello`, 'invalid_response'],

  ['chunks without the last one', `${CHUNKED}5\r\nhello\r\n`, 'connection_reset'],
  ['a last chunk that is cut off', `${CHUNKED}5\r\nhello\r\n0\r\n`, 'connection_reset'],
  ['a chunk that is cut off', `${CHUNKED}5\r\nhel`, 'connection_reset'],
  ['no chunks', CHUNKED, 'connection_reset'],
  ['text in place of chunks', `${CHUNKED}<html>hello</html>`, 'invalid_response'],
  ['a chunk size that is too small', `${CHUNKED}3\r\nhello\r\n0\r\n\r\n`, 'invalid_response'],
  ['a chunk size that is too small by a zero', `${CHUNKED}5\r\nhello0\r\n\r\n`, 'invalid_response'],
  ['a chunk size that counts the end of the line', `${CHUNKED}7\r\nhello\r\n0\r\n\r\n`, 'invalid_response'],
  ['a chunk size that is too large', `${CHUNKED}9\r\nhello\r\n0\r\n\r\n`, 'invalid_response'],
  ['a chunk size beyond the end', `${CHUNKED}ff\r\nhello\r\n0\r\n\r\n`, 'connection_reset'],
  ['a negative chunk size', `${CHUNKED}-5\r\nhello\r\n0\r\n\r\n`, 'invalid_response'],
  ['two chunk sizes', `${CHUNKED}5 5\r\nhello\r\n0\r\n\r\n`, 'invalid_response'],

  [
    'a length, and chunks without the last one',
    `${LENGTH_AND_CHUNKS}5\r\nhello\r\n`,
    '(connection_reset|invalid_response)',
  ],
  ['a length, and no chunks', `${LENGTH_AND_CHUNKS}hello`, 'invalid_response'],
  [
    'a length, and another coding',
    `${OK}Content-Length: 9\r\nTransfer-Encoding: gzip\r\n\r\nhello`,
    'invalid_response',
  ],
  ['no coding, and a length', `${OK}Transfer-Encoding: identity\r\nContent-Length: 9\r\n\r\nhello`, 'invalid_response'],
  ['a damaged coding', `${OK}Transfer-Encoding: chunked\x01\r\n\r\n5\r\nhello\r\n`, 'invalid_response'],
]

for (const [what, bytes, code] of refused) {
  t.test(`A response with ${what} is a failure`, async t => {
    const url = `http://127.0.0.1:${await startFixedResponse(t, bytes)}/`
    for (const acceptMalformed of [true, false]) {
      const { error } = await ask(url, { acceptMalformed })
      t.match(error, { code: new RegExp(`^${code}$`), source: FailureSource.TARGET }, `malformed: ${acceptMalformed}`)
    }
  })
}

t.test('A folded header has the value of its lines', async t => {
  const port = await startFixedResponse(t, `${OK}A: b\r\n c\r\nContent-Length: 0\r\n\r\n`)
  const { headers } = await ask(`http://127.0.0.1:${port}/`, { acceptMalformed: true })
  t.equal(headers?.a, 'b c')
})

t.test('A redirect that is not valid HTTP is followed', async t => {
  const target = await startFixedResponse(t, 'HTTP/1.1 200 OK\n\nhello')
  const port = await startFixedResponse(t, `HTTP/1.1 302 Found\nLocation: http://127.0.0.1:${target}/\n\n`)
  const read = await ask(`http://127.0.0.1:${port}/`, { acceptMalformed: true })
  t.match(read, { error: null, statusCode: 200, redirects: 1 })
  t.equal(String(read.body), 'hello')
})
