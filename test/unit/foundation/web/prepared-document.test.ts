import { randomBytes } from 'node:crypto'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import t from 'tap'
import { matchesEtag, pickEncoding } from '../../../../control-plane/foundation/web/content-encoding.ts'
import { prepareDocument } from '../../../../control-plane/foundation/web/html/prepared-document.ts'
import { parseCustomHost } from '../../../../control-plane/pages/public/site.ts'

t.test('The smallest accepted encoding is used', async t => {
  const rows: [string | undefined, string][] = [
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['GZIP;q=0.5, br;q=0', 'gzip'],
    ['br;q=0, gzip; q=0', 'identity'],
    ['identity', 'identity'],
    ['*', 'identity'],
  ]
  for (const [header, expected] of rows) t.equal(pickEncoding(header), expected, String(header))
})

t.test('Each encoding contains the document and is created once', async t => {
  const body = 'All systems are operational. '.repeat(100)
  const made = prepareDocument({ contentType: 'text/html; charset=utf-8', body })
  const br = await made.encoded('br')
  t.equal(brotliDecompressSync(br.bytes).toString(), body)
  t.equal(gunzipSync((await made.encoded('gzip')).bytes).toString(), body)
  t.equal((await made.encoded('identity')).bytes.toString(), body)
  t.equal((await made.encoded('br')).bytes, br.bytes)
  t.ok(made.sizeBytes() > body.length)
})

t.test('Pictures and tiny documents are not compressed', async t => {
  const picture = prepareDocument({ contentType: 'image/png', body: randomBytes(1_000) })
  t.equal((await picture.encoded('br')).encoding, 'identity')
  const tiny = prepareDocument({ contentType: 'application/json', body: '{}' })
  t.equal((await tiny.encoded('gzip')).encoding, 'identity')
})

t.test('An ETag identifies a document and is found in If-None-Match', async t => {
  const [a, b] = ['a', 'b'].map(body => prepareDocument({ contentType: 'text/plain', body }).etag) as [string, string]
  t.not(a, b)
  t.equal(a, prepareDocument({ contentType: 'text/plain', body: 'a' }).etag)
  const rows: [string | undefined, boolean][] = [
    [undefined, false],
    [a, true],
    [a.replace('W/', ''), true],
    [`"x", ${a}`, true],
    ['*', true],
    [b, false],
  ]
  for (const [header, expected] of rows) t.equal(matchesEtag(header, a), expected, String(header))
})

t.test('A Host header is a custom domain unless it is an own host, an address or an internal name', async t => {
  const own = ['picket.example.com']
  const rows: [string | undefined, string | null][] = [
    ['status.acme.com', 'status.acme.com'],
    ['STATUS.Acme.com:443', 'status.acme.com'],
    ['picket.example.com', null],
    ['picket.example.com:8080', null],
    ['127.0.0.1:8080', null],
    ['[::1]:8080', null],
    ['localhost', null],
    ['picket', null],
    ['app.localhost:8080', null],
    ['no host', null],
    [undefined, null],
  ]
  for (const [host, expected] of rows) t.equal(parseCustomHost(host, own), expected, String(host))
})
