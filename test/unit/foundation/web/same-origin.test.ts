import t from 'tap'
import { isSameOrigin } from '../../../../control-plane/foundation/web/masked-secrets/same-origin.ts'

t.test('An address has the same origin with the same scheme, host and port, or with https instead of http', async t => {
  const rows: [from: string | null, to: string, same: boolean][] = [
    ['https://a.example/x', 'https://a.example/y?z', true],
    ['https://a.example', 'https://A.EXAMPLE:443/', true],
    ['http://a.example', 'https://a.example', true],
    ['https://a.example', 'http://a.example', false],
    ['http://a.example:8080', 'https://a.example:8080', false],
    ['https://a.example', 'https://a.example:444', false],
    ['https://a.example', 'https://b.example', false],
    ['https://a.example', 'https://a.example.b.example', false],
    ['https://a.example', 'https://b.example/https://a.example', false],
    [null, 'https://a.example', false],
    ['a.example:25', 'a.example:25', true],
    ['a.example', 'a.example:25', false],
    ['a.example', 'https://a.example', false],
  ]
  for (const [from, to, same] of rows) t.equal(isSameOrigin(from, to), same, `${from} → ${to}`)
})
