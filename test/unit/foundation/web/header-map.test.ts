import t from 'tap'
import {
  findHeaderProblems,
  isSensitiveName,
  maskHeaders,
  unmaskHeaders,
} from '../../../../control-plane/foundation/web/masked-secrets/header-map.ts'

t.test('Headers with secrets are recognized by name', async t => {
  const secret = ['Authorization', 'cookie', 'Proxy-Authorization', 'X-API-Key', 'x-auth', 'My-Token', 'Client-Secret']
  const plain = ['Accept', 'User-Agent', 'Content-Type', 'X-Request-Id', 'Host', 'Referer']
  t.same([...secret, ...plain].filter(isSensitiveName), secret)
})

t.test('Masking and unmasking return the stored values', async t => {
  const stored = { Accept: 'a', Authorization: 'Bearer hush', 'x-api-key': 'hush' }
  const masked = maskHeaders(stored)
  t.same(masked, { Accept: 'a', Authorization: '********', 'x-api-key': '********' })
  t.same(unmaskHeaders(masked, stored, 'headers'), { headers: stored, problems: [] })
})

t.test('Eight asterisks in a header without a secret are a normal value', async t => {
  t.same(unmaskHeaders({ Accept: '********' }, null, 'headers'), { headers: { Accept: '********' }, problems: [] })
})

t.test('A header that would break or reframe the request is refused', async t => {
  const wrong = { 'a b': 'c', '': 'c', 'x:y': 'c', ok: 'a\r\nb: c', Connection: 'close', TE: 'trailers' }
  const paths = findHeaderProblems(wrong, 'headers').map(({ path }) => path)
  t.same(paths, ['headers.a b', 'headers.', 'headers.x:y', 'headers.ok', 'headers.Connection', 'headers.TE'])
  t.same(findHeaderProblems({ Accept: 'a\tb', Host: 'other.example.com', 'X-Team': 'Küche' }, 'headers'), [])
})
