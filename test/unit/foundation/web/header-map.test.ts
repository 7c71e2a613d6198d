import t from 'tap'
import {
  findHeaderProblems,
  isSensitiveName,
  maskHeaders,
  unmaskHeaders,
} from '../../../../control-plane/foundation/web/masked-secrets/header-map.ts'

t.test('headers that carry secrets are known by their names', async t => {
  const secret = ['Authorization', 'cookie', 'Proxy-Authorization', 'X-API-Key', 'x-auth', 'My-Token', 'Client-Secret']
  const plain = ['Accept', 'User-Agent', 'Content-Type', 'X-Request-Id', 'Host', 'Referer']
  t.same([...secret, ...plain].filter(isSensitiveName), secret)
})

t.test('masking and unmasking give back what was stored', async t => {
  const stored = { Accept: 'a', Authorization: 'Bearer hush', 'x-api-key': 'hush' }
  const masked = maskHeaders(stored)
  t.same(masked, { Accept: 'a', Authorization: '********', 'x-api-key': '********' })
  t.same(unmaskHeaders(masked, stored, 'headers'), { headers: stored, problems: [] })
})

t.test('eight asterisks in a header that is no secret are just a value', async t => {
  t.same(unmaskHeaders({ Accept: '********' }, null, 'headers'), { headers: { Accept: '********' }, problems: [] })
})

t.test('a header that would break the request or frame it differently is refused', async t => {
  const wrong = { 'a b': 'c', '': 'c', 'x:y': 'c', ok: 'a\r\nb: c', Connection: 'close', TE: 'trailers' }
  const paths = findHeaderProblems(wrong, 'headers').map(({ path }) => path)
  t.same(paths, ['headers.a b', 'headers.', 'headers.x:y', 'headers.ok', 'headers.Connection', 'headers.TE'])
  t.same(findHeaderProblems({ Accept: 'a\tb', Host: 'other.example.com', 'X-Team': 'Küche' }, 'headers'), [])
})
