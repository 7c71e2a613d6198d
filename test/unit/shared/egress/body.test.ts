import { randomBytes } from 'node:crypto'
import * as zlib from 'node:zlib'
import t from 'tap'
import { createDeadline, createEgress, type HttpRequest, sendRequest } from '../../../../shared/egress/index.ts'
import { startFixedResponse } from '../../../support/raw-server.ts'
import { startTarget, type Target } from '../../../support/target.ts'

const egress = createEgress({ allow: ['127.0.0.1'] })
const MAX_BYTES = 1024 * 1024
const { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } = zlib
/** available since Node 22.15 */
const { zstdCompressSync } = zlib as { zstdCompressSync?: (text: string) => Buffer }

async function ask({ url }: Pick<Target, 'url'>, parts: Partial<HttpRequest> = {}) {
  const deadline = createDeadline(60_000)
  const defaults = { method: 'GET', headers: {}, body: null, maxBodyBytes: MAX_BYTES, followRedirects: true }
  const answer = await sendRequest({ url, signal: deadline.signal, ...defaults, ...parts }, egress)
  deadline.clear()
  return answer
}

const text = 'all is well '.repeat(5000)
const encodings: (readonly [name: string, encoding: string, bytes: Buffer])[] = [
  ['gzip', 'gzip', gzipSync(text)],
  ['gzip by its old name', 'x-gzip', gzipSync(text)],
  ['gzip in capitals', 'GZIP', gzipSync(text)],
  ['deflate', 'deflate', deflateSync(text)],
  ['deflate without its header', 'deflate', deflateRawSync(text)],
  ['brotli', 'br', brotliCompressSync(text)],
  ['nothing', 'identity', Buffer.from(text)],
  ...(zstdCompressSync ? ([['zstd', 'zstd', zstdCompressSync(text)]] as const) : []),
]

for (const [name, encoding, bytes] of encodings) {
  t.test(`A body compressed with ${name} is decompressed`, async t => {
    const target = await startTarget(t)
    target.behave({ kind: 'answer', body: bytes, headers: { 'content-encoding': encoding } })
    const answer = await ask(target)
    t.equal(answer.error, null)
    t.equal(String(answer.body), text)
  })
}

t.test('An unknown content encoding is not decoded', async t => {
  const target = await startTarget(t)
  target.behave({ kind: 'answer', body: 'raw', headers: { 'content-encoding': 'rot13' } })
  t.match(await ask(target), { error: null, body: Buffer.from('raw') })
})

t.test('The beginning of an unneeded compressed body is kept decompressed', async t => {
  const target = await startTarget(t)
  const noise = randomBytes(30_000).toString('hex')
  const packed: [string, Buffer, string][] = [
    ['gzip', gzipSync(text), text],
    ['deflate', deflateRawSync(text), text],
    ['br', brotliCompressSync(noise), noise],
    ['gzip', gzipSync(noise), noise],
    ['br', brotliCompressSync(Buffer.alloc(300 * MAX_BYTES, 'a'), { params: { 1: 1 } }), 'a'.repeat(4096)],
  ]
  for (const [encoding, body, whole] of packed) {
    target.behave({ kind: 'answer', body, headers: { 'content-encoding': encoding } })
    const { error, body: sample } = await ask(target, { keepBody: false })
    t.equal(error, null)
    t.ok(sample!.length > 3000 && sample!.length <= 4096, `${encoding}: ${sample!.length} bytes`)
    t.ok(whole.startsWith(String(sample)))
  }
  target.behave({ kind: 'answer', body: 'not gzip at all', headers: { 'content-encoding': 'gzip' } })
  t.match(await ask(target, { keepBody: false }), { error: null, statusCode: 200 }, 'and it is not validated')
})

t.test('the part of a response that arrived before it was cut off is kept', async t => {
  const port = await startFixedResponse(t, 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this')
  for (const keepBody of [true, false]) {
    const answer = await ask({ url: `http://127.0.0.1:${port}/` }, { keepBody })
    t.match(answer, { error: { code: 'connection_reset' }, statusCode: 200, body: Buffer.from('only this') })
  }
})

t.test('A response without a body may have a content encoding', async t => {
  const target = await startTarget(t)
  target.behave({ kind: 'answer', body: '', headers: { 'content-encoding': 'gzip' } })
  t.match(await ask(target), { error: null, statusCode: 200 })
  t.match(await ask(target, { method: 'HEAD' }), { error: null, statusCode: 200 })
})

t.test('A decompression bomb is truncated at the limit in little memory', async t => {
  const target = await startTarget(t)
  const bombs: [string, Buffer][] = [
    ['gzip', gzipSync(Buffer.alloc(300 * MAX_BYTES))],
    ['br', brotliCompressSync(Buffer.alloc(300 * MAX_BYTES), { params: { 1: 1 } })],
  ]
  for (const [encoding, body] of bombs) {
    target.behave({ kind: 'answer', body, headers: { 'content-encoding': encoding } })
    const before = process.memoryUsage.rss()
    const answer = await ask(target)
    t.match(answer, { error: null, truncated: true })
    t.equal(answer.body?.length, MAX_BYTES)
    t.ok(process.memoryUsage.rss() - before < 64 * MAX_BYTES, encoding)
  }
})

t.test('A truncated compressed body is an invalid response', async t => {
  const target = await startTarget(t)
  const body = gzipSync(text).subarray(0, 60)
  target.behave({ kind: 'answer', body, headers: { 'content-encoding': 'gzip' } })
  t.match(await ask(target), {
    error: { code: 'invalid_response', message: 'the body is not valid gzip' },
    statusCode: 200,
  })
})
