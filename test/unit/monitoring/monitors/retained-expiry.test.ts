import t from 'tap'
import { retainExpiry } from '../../../../control-plane/monitoring/monitors/settings/retained-expiry.ts'

const sslExpiresAt = new Date('2027-01-01')
const domainExpiresAt = new Date('2027-02-01')
const before = { type: 'http', url: 'https://shop.example.com/a', sslCheck: true, domainCheck: true } as const

t.test('A changed monitor keeps the dates of the origin and host that it still checks', async t => {
  const rows: [what: string, after: object, keepsCertificate: boolean, keepsDomain: boolean][] = [
    ['nothing', {}, true, true],
    ['another path', { url: 'https://SHOP.example.com/b?c' }, true, true],
    ['another port', { url: 'https://shop.example.com:8443/a' }, false, true],
    ['no TLS', { url: 'http://shop.example.com/a' }, false, true],
    ['another host', { url: 'https://www.example.com/a' }, false, false],
    ['no url', { url: null }, false, false],
    ['no certificate check', { sslCheck: false }, false, true],
    ['no domain check', { domainCheck: false }, true, false],
    ['another type, same host', { type: 'keyword' }, true, true],
    ['a type without certificates, same address', { type: 'ping' }, false, true],
  ]
  for (const [what, after, keepsCertificate, keepsDomain] of rows) {
    t.same(
      retainExpiry({ ...before, sslExpiresAt, domainExpiresAt }, { ...before, ...after }),
      { sslExpiresAt: keepsCertificate ? sslExpiresAt : null, domainExpiresAt: keepsDomain ? domainExpiresAt : null },
      what,
    )
  }
})
