import t from 'tap'
import {
  buildRegistrationIdentity,
  computeNextLookup,
  findRegistrableDomain,
} from '../../../../control-plane/verdict/expiry/domains/registration.ts'
import type { MonitorType } from '../../../../shared/checks/check.ts'

t.test('the registrable domain is found by the public suffix list', async t => {
  const rows: [type: MonitorType, url: string | null, domain: string | null][] = [
    ['http', 'https://example.com/', 'example.com'],
    ['http', 'https://Shop.EXAMPLE.com:8443/a?b', 'example.com'],
    ['http', 'https://a.b.example.co.uk/', 'example.co.uk'],
    ['http', 'https://me.github.io/', 'github.io'],
    ['http', 'https://www.bücher.example.de/', 'example.de'],
    ['http', 'https://bücher.de/', 'xn--bcher-kva.de'],
    ['http', 'https://xn--p1ai.xn--p1ai/', 'xn--p1ai.xn--p1ai'],
    ['tcp', 'mail.example.org:25', 'example.org'],
    ['dns', 'dns://ns.example.io', 'example.io'],
    ['ping', 'example.dev.', 'example.dev'],
    ['http', 'https://co.uk/', null],
    ['http', 'https://192.0.2.1/', null],
    ['http', 'https://[2001:db8::1]/', null],
    ['tcp', 'localhost:80', null],
    ['http', null, null],
    ['http', 'no url', null],
  ]
  for (const [type, url, domain] of rows) t.equal(findRegistrableDomain(type, url), domain, String(url))
})

t.test('a date that moves by hours is the same registration, and a renewal is a new one', async t => {
  const end = new Date('2026-12-01T04:00:00Z')
  const known = { identity: 'example.com 2026-12-01', expiresAt: end }
  t.equal(buildRegistrationIdentity('example.com', null, end), known.identity)
  for (const [date, identity] of [
    ['2026-12-01T00:00:00Z', known.identity],
    ['2026-11-30T23:00:00Z', known.identity],
    ['2026-12-03T04:00:00Z', known.identity],
    ['2027-12-01T04:00:00Z', 'example.com 2027-12-01'],
    ['2026-12-05T04:00:00Z', 'example.com 2026-12-05'],
  ] as const) {
    t.equal(buildRegistrationIdentity('example.com', known, new Date(date)), identity, date)
  }
})

const now = new Date('2026-11-21T12:00:00Z')
const minutes = (failures: number, jitter = 0) =>
  (computeNextLookup(failures, now, ms => ms * jitter).getTime() - now.getTime()) / 60_000

t.test('a domain is looked up once a day, and after failures with growing pauses of at most a day', async t => {
  t.same(
    [0, 1, 2, 3, 4, 7, 8, 50, 1e6].map(failures => minutes(failures)),
    [1_440, 15, 30, 60, 120, 960, 1_440, 1_440, 1_440],
  )
})

t.test('jitter adds at most a tenth', async t => t.same([minutes(0, 1), minutes(1, 1)], [1_584, 16.5]))
