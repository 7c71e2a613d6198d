import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { createDeadline, createEgress, type HttpRequest, request } from '../../../../shared/egress/index.ts'
import { startTarget, type Target } from '../../../support/target.ts'

const egress = createEgress({ allow: ['127.0.0.1'] })
const LIMIT = 1024 * 1024

async function ask({ url }: Target, parts: Partial<HttpRequest> = {}) {
  const deadline = createDeadline(10_000)
  const defaults = { method: 'GET', headers: {}, body: null, maxBodyBytes: LIMIT, followRedirects: true }
  const answer = await request({ url, signal: deadline.signal, ...defaults, ...parts }, egress)
  deadline.clear()
  return answer
}

const text = 'all is well '.repeat(5000)
const encodings: [name: string, encoding: string, bytes: Buffer][] = [
  ['gzip', 'gzip', gzipSync(text)],
  ['gzip by its old name', 'x-gzip', gzipSync(text)],
  ['gzip in capitals', 'GZIP', gzipSync(text)],
  ['deflate', 'deflate', deflateSync(text)],
  ['deflate without its header', 'deflate', deflateRawSync(text)],
  ['brotli', 'br', brotliCompressSync(text)],
  ['nothing', 'identity', Buffer.from(text)],
]

for (const [name, encoding, bytes] of encodings) {
  t.test(`a body packed with ${name} is read`, async t => {
    const target = await startTarget(t)
    target.behave({ kind: 'answer', body: bytes, headers: { 'content-encoding': encoding } })
    const answer = await ask(target)
    t.equal(answer.error, null)
    t.equal(String(answer.body), text)
  })
}

t.test('a packing that nobody knows is left as it is', async t => {
  const target = await startTarget(t)
  target.behave({ kind: 'answer', body: 'raw', headers: { 'content-encoding': 'zstd' } })
  t.match(await ask(target), { error: null, body: Buffer.from('raw') })
})

t.test('an answer without a body may name a packing', async t => {
  const target = await startTarget(t)
  target.behave({ kind: 'answer', body: '', headers: { 'content-encoding': 'gzip' } })
  t.match(await ask(target), { error: null, statusCode: 200 })
  t.match(await ask(target, { method: 'HEAD' }), { error: null, statusCode: 200 })
})

t.test('a bomb is cut at the limit, in little memory', async t => {
  const target = await startTarget(t)
  const bombs: [string, Buffer][] = [
    ['gzip', gzipSync(Buffer.alloc(300 * LIMIT))],
    ['br', brotliCompressSync(Buffer.alloc(300 * LIMIT), { params: { 1: 1 } })],
  ]
  for (const [encoding, body] of bombs) {
    target.behave({ kind: 'answer', body, headers: { 'content-encoding': encoding } })
    const before = process.memoryUsage.rss()
    const answer = await ask(target)
    t.match(answer, { error: null, truncated: true })
    t.equal(answer.body?.length, LIMIT)
    t.ok(process.memoryUsage.rss() - before < 64 * LIMIT, encoding)
  }
})

t.test('a packed body that ends too early is an invalid answer', async t => {
  const target = await startTarget(t)
  const body = gzipSync(text).subarray(0, 60)
  target.behave({ kind: 'answer', body, headers: { 'content-encoding': 'gzip' } })
  t.match(await ask(target), {
    error: { code: 'invalid_response', message: 'the body is not valid gzip' },
    statusCode: 200,
  })
})
