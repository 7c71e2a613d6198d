import t from 'tap'
import { generateApiKey, hasValidChecksum } from '../../../../control-plane/foundation/web/auth/api-key.ts'
import { createRateLimit } from '../../../../control-plane/foundation/web/limits/rate-limit.ts'
import { parseBody } from '../../../../control-plane/foundation/web/validation/body.ts'
import { buildPageMeta, toPageBounds } from '../../../../control-plane/foundation/web/validation/pagination.ts'
import { coerceQuery } from '../../../../control-plane/foundation/web/validation/query-coercion.ts'

t.test('A query value becomes a number or a boolean only if it is exactly one', async t => {
  const schema = {
    properties: { n: { type: 'integer' }, x: { type: 'number' }, b: { type: 'boolean' }, s: { type: 'string' } },
  }
  const rows: [string, string, unknown][] = [
    ['n', '1', 1],
    ['n', '-3', -3],
    ['n', '007', 7],
    ['n', '1.0', '1.0'],
    ['n', '1e3', '1e3'],
    ['n', ' 1', ' 1'],
    ['n', '', ''],
    ['n', '0x10', '0x10'],
    ['x', '0.25', 0.25],
    ['x', 'NaN', 'NaN'],
    ['b', 'true', true],
    ['b', '1', '1'],
    ['s', '1', '1'],
    ['unknown', '1', '1'],
  ]
  for (const [name, text, value] of rows) t.same(coerceQuery({ [name]: text }, schema), { [name]: value })
})

t.test('A body is parsed without changing any byte', async t => {
  const value = { text: 'Zeile 1\nZeile 2 😀', list: [1, null, true], nested: { deep: [{}] } }
  t.same(parseBody(Buffer.from(JSON.stringify(value))), value)
  t.equal(parseBody(Buffer.alloc(0)), undefined)
})

t.test('A refused body is reported with its path', async t => {
  const rows: [string, string][] = [
    ['{"a":[1,"\\u0000"]}', 'a[1] contains invalid characters'],
    ['{"a":{"b\\u0000":1}}', 'a has a key that is not allowed'],
    ['{"a":{"__proto__":1}}', 'a has a key that is not allowed'],
    ['{"a":"\\udc00"}', 'a contains invalid characters'],
  ]
  for (const [text, message] of rows) t.throws(() => parseBody(Buffer.from(text)), { status: 400, message })
})

t.test('An API key with one wrong character is refused without a query', async t => {
  for (let n = 0; n < 20; n++) {
    const key = generateApiKey()
    t.match(key, /^svc_[0-9A-Za-z]{36}$/)
    t.ok(hasValidChecksum(key))
    for (let i = 4; i < key.length; i++) {
      const other = `${key.slice(0, i)}${key[i] === 'x' ? 'y' : 'x'}${key.slice(i + 1)}`
      if (hasValidChecksum(other)) t.fail(`${other} passes for ${key}`)
    }
  }
  for (const text of ['', 'svc_', 'svc_ä', `${generateApiKey()}0`, generateApiKey().toLowerCase().slice(0, 39)]) {
    t.notOk(hasValidChecksum(text))
  }
})

t.test('A rate limit counts each key separately and restarts every minute', async t => {
  const limit = createRateLimit(2)
  const at = Date.parse('2026-08-01T12:00:15Z')
  t.same(limit('a', at), { allowed: true, limit: 2, remaining: 1, resetSeconds: 45 })
  t.match(limit('a', at + 1), { allowed: true, remaining: 0 })
  t.match(limit('a', at + 2), { allowed: false, remaining: 0 })
  t.match(limit('b', at + 3), { allowed: true })
  t.match(limit('a', at + 44_999), { allowed: false, resetSeconds: 1 })
  t.match(limit('a', at + 45_000), { allowed: true, remaining: 1, resetSeconds: 60 })
})

t.test('Pages begin at 1 and have 25 records by default', async t => {
  t.same(toPageBounds({}), { limit: 25, offset: 0 })
  t.same(toPageBounds({ page: 3, per_page: 10 }), { limit: 10, offset: 20 })
  t.same(buildPageMeta({}, 0), { page: 1, per_page: 25, total: 0, total_pages: 0 })
  t.same(buildPageMeta({ page: 2, per_page: 10 }, 21), { page: 2, per_page: 10, total: 21, total_pages: 3 })
})
