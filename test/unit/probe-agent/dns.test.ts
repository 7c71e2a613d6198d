import type { Answer } from 'dns-packet'
import t from 'tap'
import { checkDns } from '../../../probe-agent/checks/dns.ts'
import { runCheck } from '../../../probe-agent/execution/run-check.ts'
import type { Assertion } from '../../../shared/checks/check.ts'
import { FailureSource, Outcome } from '../../../shared/checks/result.ts'
import { toResolverFailure } from '../../../shared/egress/failure.ts'
import { createDeadline, createEgress } from '../../../shared/egress/index.ts'
import { type DnsBehaviour, startDnsServer } from '../../support/dns-server.ts'
import { createCheckSpec } from '../../support/spec.ts'

// takes about 25 s

const name = 'shop.test'
/** Its character at byte 255 is in both chunks. */
const LONG = Buffer.from('ä'.repeat(200))
const zone: Answer[] = [
  { type: 'A', name, ttl: 60, data: '192.0.2.7' },
  { type: 'A', name, ttl: 60, data: '192.0.2.8' },
  { type: 'AAAA', name, ttl: 61, data: '2001:db8::7' },
  { type: 'MX', name, ttl: 62, data: { preference: 10, exchange: 'Mail.shop.test' } },
  { type: 'MX', name, ttl: 62, data: { preference: 20, exchange: 'backup.shop.test' } },
  { type: 'TXT', name, ttl: 63, data: ['v=spf1 ', '-all'] },
  { type: 'TXT', name, ttl: 63, data: 'a\tb' },
  { type: 'TXT', name: 'long.shop.test', ttl: 63, data: [LONG.subarray(0, 255), LONG.subarray(255)] },
  { type: 'NS', name, ttl: 64, data: 'ns1.shop.test' },
  {
    type: 'SOA',
    name,
    ttl: 65,
    data: { mname: 'ns1.shop.test', rname: 'ops.shop.test', serial: 7, refresh: 1, retry: 2, expire: 3, minimum: 4 },
  },
  { type: 'SRV', name, ttl: 66, data: { priority: 1, weight: 2, port: 5060, target: 'sip.shop.test' } },
  { type: 'CAA', name, ttl: 67, data: { flags: 0, tag: 'issue', value: 'letsencrypt.org' } },
  { type: 'CNAME', name: 'www.shop.test', ttl: 68, data: name },
  { type: 'AAAA', name: 'v6.test', ttl: 60, data: '2001:db8:0:0:1::' },
  { type: 'AAAA', name: 'v6.test', ttl: 60, data: '2001:db8:0:5::10' },
  { type: 'AAAA', name: 'v6.test', ttl: 60, data: '2001:db8:0:1:1:1:1:1' },
  { type: 'TXT', name: 'v6.test', ttl: 60, data: '2001:DB8::0:A' },
  { type: 'A', name: 'v4.test', ttl: 60, data: '192.0.2.9' },
]

const given = await startDnsServer(t, zone)
const system = await startDnsServer(t, zone)
const deaf = await startDnsServer(t, zone)
deaf.behave('silent')
const egress = createEgress({ allow: ['127.0.0.1'], nameservers: [`127.0.0.1:${system.port}`] })
const server = `dns://127.0.0.1:${given.port}`

async function look(url: string, { assertions = [] as Assertion[], timeoutMs = 60_000, through = egress } = {}) {
  const deadline = createDeadline(timeoutMs)
  const seen = await checkDns(createCheckSpec({ type: 'dns', url, assertions, timeoutMs }), deadline.signal, through, 0)
  deadline.clear()
  return seen
}

/** The questions without repetitions, which occur on a busy machine. */
const asked = ({ questions }: { questions: string[] }) => [...new Set(questions)]

t.test('A dns check returns every type of record as in a zone file', async t => {
  given.behave('answer')
  const rows: [type: string, values: string[], ttlS: number][] = [
    ['A', ['192.0.2.7', '192.0.2.8'], 60],
    ['AAAA', ['2001:db8::7'], 61],
    ['MX', ['10 mail.shop.test', '20 backup.shop.test'], 62],
    ['TXT', ['v=spf1 -all', 'a\\009b'], 63],
    ['NS', ['ns1.shop.test'], 64],
    ['SOA', ['ns1.shop.test ops.shop.test 7 1 2 3 4'], 65],
    ['SRV', ['1 2 5060 sip.shop.test'], 66],
    ['CAA', ['0 issue "letsencrypt.org"'], 67],
  ]
  for (const [type, values, ttlS] of rows) {
    const { error, dns, resolvedIp, timings, totalUs } = await look(`${server}/${name}?type=${type}`)
    t.equal(error, null, type)
    const records = values.map(value => ({ type, name, ttlS, value }))
    t.same(dns, { rcode: 'NOERROR', server: `127.0.0.1:${given.port}`, records })
    t.equal(resolvedIp, '127.0.0.1', 'the address is the server’s')
    t.ok(totalUs > 0)
    t.equal(timings.dnsUs, totalUs, 'all of it is the dns phase')
  }
  const { dns } = await look(`${server}/www.shop.test?type=CNAME`)
  t.same(dns?.records, [{ type: 'CNAME', name: 'www.shop.test', ttlS: 68, value: name }])
  const long = await look(`${server}/long.shop.test?type=TXT`)
  t.equal(long.dns?.records[0]?.value, LONG.toString(), 'a character at the border of two chunks')
})

t.test('Without a type, A and AAAA are queried, with the probe’s resolvers when no server is named', async t => {
  given.behave('answer')
  system.behave('answer')
  for (const url of ['dns://shop.test', 'Shop.Test', 'shop.test:53', 'https://shop.test/page', 'dns:shop.test']) {
    const { error, dns } = await look(url)
    t.equal(error, null, url)
    t.equal(dns?.records.length, 3)
    t.equal(dns?.server, `127.0.0.1:${system.port}`)
  }
  t.same(system.questions.slice(0, 2), ['udp A shop.test', 'udp AAAA shop.test'])
  t.same(given.questions, [])
  await look(`${server}/shop.test`)
  t.same(asked(given), ['udp A shop.test', 'udp AAAA shop.test'])
})

t.test('A failure names what the server did and its source', async t => {
  const { TARGET, RESOLVER } = FailureSource
  const rows: [behaviour: DnsBehaviour, code: string, ofResolver: FailureSource][] = [
    ['nxdomain', 'dns_nxdomain', TARGET],
    ['servfail', 'dns_servfail', RESOLVER],
    ['refused', 'dns_refused', RESOLVER],
    ['silent', 'dns_timeout', RESOLVER],
    ['garbage', 'dns_invalid_response', RESOLVER],
    ['wrong-id', 'dns_invalid_response', RESOLVER],
    ['other-question', 'dns_invalid_response', RESOLVER],
    ['spoofed-source', 'dns_timeout', RESOLVER],
    ['truncate-and-refuse-tcp', 'connection_reset', RESOLVER],
  ]
  await Promise.all(
    rows.map(async ([behaviour, code, ofResolver]) => {
      const { port, behave } = await startDnsServer(t, zone)
      behave(behaviour)
      const through = createEgress({ allow: ['127.0.0.1'], nameservers: [`127.0.0.1:${port}`] })
      const timeoutMs = code === 'dns_timeout' || code === 'dns_invalid_response' ? 2_000 : 60_000
      const asked = await look(`dns://127.0.0.1:${port}/${name}`, { timeoutMs })
      t.match(asked.error, { code, source: TARGET }, `${behaviour} of a server that the monitor names`)
      const own = await look(name, { timeoutMs, through })
      t.match(own.error, { code, source: ofResolver }, `${behaviour} of the probe’s resolver`)
    }),
  )
})

t.test('The result contains the rcode', async t => {
  given.behave('nxdomain')
  const { dns, error } = await look(`${server}/gone.test?type=A`)
  t.match(dns, { rcode: 'NXDOMAIN', records: [] })
  t.equal(error?.message, 'query for A: the name does not exist (NXDOMAIN)')
})

t.test('A truncated answer is repeated over TCP', async t => {
  given.behave('truncate')
  const { error, dns, timings, totalUs } = await look(`${server}/${name}?type=MX`)
  t.equal(error, null)
  t.equal(dns?.records.length, 2)
  t.same(asked(given), ['udp MX shop.test', 'tcp MX shop.test'])
  t.equal(timings.dnsUs + timings.connectUs, totalUs)
  system.behave('truncate')
  const guarded = createEgress({ allow: [], nameservers: [`127.0.0.1:${system.port}`] })
  t.equal((await look(name, { through: guarded })).error, null, 'the probe’s own resolver may be private')
})

t.test('A lost datagram is sent again, and invalid datagrams are ignored', async t => {
  given.behave('lose-the-first')
  t.equal((await look(`${server}/${name}?type=A`)).error, null)
  t.ok(given.questions.length >= 2)
  given.behave('noise-first')
  t.equal((await look(`${server}/${name}`)).error, null)
})

t.test('When the first resolver is silent or refuses, the next one is used', async t => {
  system.behave('answer')
  for (const first of [deaf.port, 1]) {
    const through = createEgress({ allow: [], nameservers: [`127.0.0.1:${first}`, `127.0.0.1:${system.port}`] })
    t.match(await look(name, { through }), { error: null, dns: { server: `127.0.0.1:${system.port}` } })
  }
  const { error } = await look('dns://127.0.0.1:1/shop.test')
  t.match(error, { code: 'connection_refused', source: FailureSource.TARGET })
})

t.test(
  'When a resolver answers with an error, the next one is used, and the error when there is no better reply',
  async t => {
    const { TARGET, RESOLVER } = FailureSource
    const rows: [behaviours: DnsBehaviour[], error: { code: string; source: FailureSource } | null, server: number][] =
      [
        [['servfail', 'answer'], null, 1],
        [['refused', 'answer'], null, 1],
        [['notimp', 'answer'], null, 1],
        [['refused', 'servfail', 'answer'], null, 2],
        [['servfail', 'truncate'], null, 1],
        [['servfail', 'nxdomain'], { code: 'dns_nxdomain', source: TARGET }, 1],
        [['nxdomain', 'answer'], { code: 'dns_nxdomain', source: TARGET }, 0],
        [['servfail', 'refused'], { code: 'dns_servfail', source: RESOLVER }, 0],
        [['refused', 'servfail'], { code: 'dns_refused', source: RESOLVER }, 0],
        [['servfail', 'silent'], { code: 'dns_servfail', source: RESOLVER }, 0],
      ]
    await Promise.all(
      rows.map(async ([behaviours, error, expected]) => {
        const servers = await Promise.all(behaviours.map(() => startDnsServer(t, zone)))
        for (const [i, { behave }] of servers.entries()) behave(behaviours[i]!)
        const through = createEgress({ allow: [], nameservers: servers.map(({ port }) => `127.0.0.1:${port}`) })
        for (const url of [name, `dns:${name}?type=MX`]) {
          const seen = await look(url, { through })
          const found = { error, dns: { server: `127.0.0.1:${servers[expected]!.port}` } }
          t.match(seen, found, `${behaviours} ${url}`)
        }
      }),
    )
  },
)

t.test(
  'An error is final when the deadline passes, when the next resolver refuses, and when the monitor names the server',
  async t => {
    const first = await startDnsServer(t, zone)
    first.behave('servfail')
    for (const [next, timeoutMs] of [
      [deaf.port, 1_000],
      [1, 60_000],
    ]) {
      const through = createEgress({ allow: [], nameservers: [`127.0.0.1:${first.port}`, `127.0.0.1:${next}`] })
      const { error } = await look(name, { through, timeoutMs })
      t.match(error, { code: 'dns_servfail', source: FailureSource.RESOLVER })
    }
    given.behave('servfail')
    const named = createEgress({ allow: ['127.0.0.0/8'], resolver: async () => ['127.0.0.1', '127.0.0.2'] })
    const { error } = await look(`dns://ns1.test:${given.port}/${name}?type=A`, { through: named })
    t.match(error, { code: 'dns_servfail', source: FailureSource.TARGET })
    t.same(asked(given), ['udp A shop.test'])
  },
)

t.test(
  'A resolver that answers for A and is silent about AAAA does not make a check fail or wait for the deadline',
  async t => {
    const { TARGET, RESOLVER } = FailureSource
    const quiet = await startDnsServer(t, zone)
    const through = createEgress({ allow: ['127.0.0.1'], nameservers: [`127.0.0.1:${quiet.port}`] })
    for (const behaviour of ['silent-about-aaaa', 'truncate-silent-about-aaaa'] as const) {
      for (const url of [name, `dns://127.0.0.1:${quiet.port}/${name}`]) {
        quiet.behave(behaviour)
        // long before the deadline
        const { error, dns } = await look(url, { through, timeoutMs: 60_000 })
        const values = dns?.records.map(({ value }) => value)
        t.same({ error, values }, { error: null, values: ['192.0.2.7', '192.0.2.8'] }, `${behaviour} ${url}`)
        t.ok(quiet.questions.length < 10, 'it does not go on for long')
      }
    }
    quiet.behave('silent-about-aaaa')
    t.equal((await look(name, { through, timeoutMs: 5_000 })).error, null, 'the deadline is before the end of the wait')
    for (const [url, source] of [
      [`dns:${name}?type=AAAA`, RESOLVER],
      [`dns://127.0.0.1:${quiet.port}/${name}?type=AAAA`, TARGET],
      ['dns:mail.test', RESOLVER],
    ] as const) {
      const { error } = await look(url, { through, timeoutMs: 2_000 })
      t.match(error, { code: 'dns_timeout', source }, `${url}: a record that is needed is missing`)
    }
    const both = [
      { type: 'dns_record', operator: 'exists', value: 'A' },
      { type: 'dns_record', operator: 'exists', value: 'AAAA' },
    ]
    const { error } = await look(name, { through, timeoutMs: 2_000, assertions: both })
    t.match(error, { code: 'dns_timeout' }, 'assertions name the type')
  },
)

t.test('A server on another machine can be asked: the socket is not bound to the address of the server', async t => {
  const other = await startDnsServer(t, zone, '127.0.0.2')
  const through = createEgress({ allow: ['127.0.0.2'], nameservers: [`127.0.0.2:${other.port}`] })
  t.equal((await look(`dns://127.0.0.2:${other.port}/${name}`, { through })).error, null)
  t.equal((await look(name, { through })).error, null)
  t.same([...other.senders], ['127.0.0.1'])
})

t.test('While the name of a server is resolved, a failure of the probe’s resolver is the resolver’s', async t => {
  const url = `dns://ns1.test:${given.port}/${name}`
  const createWithResolver = (resolver: () => Promise<string[]>) => createEgress({ allow: ['127.0.0.1'], resolver })
  const broken = createWithResolver(() => Promise.reject(toResolverFailure('ECONNREFUSED')))
  t.match((await look(url, { through: broken })).error, { code: 'dns_failed', source: FailureSource.RESOLVER })
  const silent = createWithResolver(() => new Promise(() => {}))
  const { error } = await look(url, { through: silent, timeoutMs: 50 })
  t.match(error, { code: 'timeout', source: FailureSource.RESOLVER })
  const missing = createWithResolver(() => Promise.reject(toResolverFailure('ENOTFOUND')))
  t.match((await look(url, { through: missing })).error, { code: 'dns_not_found', source: FailureSource.TARGET })
})

t.test('An address that the probe cannot reach does not hide the refusal of another one', async t => {
  // without a zone, the second one is not an address that a socket can connect to
  for (const addresses of [
    ['127.0.0.1', 'fe80::1'],
    ['fe80::1', '127.0.0.1'],
  ]) {
    const through = createEgress({ allow: ['127.0.0.1', 'fe80::1'], resolver: async () => addresses })
    const { error } = await look(`dns://ns1.test:1/${name}`, { through })
    t.match(error, { code: 'connection_refused', source: FailureSource.TARGET }, addresses.join())
  }
})

t.test('A server that a monitor names passes the egress guard', async t => {
  given.behave('answer')
  const through = createEgress({ allow: [] })
  t.match(await look(`${server}/${name}`, { through }), { error: { code: 'blocked_target' }, dns: null })
  t.match(await look(`dns://localhost:${given.port}/${name}`, { through }), { error: { code: 'blocked_target' } })
  t.same(given.questions, [])
})

t.test('A name without a record of the type fails, unless there are dns_record assertions', async t => {
  given.behave('answer')
  t.match((await look(`${server}/v4.test?type=MX`)).error, {
    code: 'dns_no_records',
    message: 'v4.test has no MX record',
  })
  t.equal((await look(`${server}/v4.test`)).error, null, 'one of the two types of address is enough')
  given.behave('servfail-about-aaaa')
  t.equal((await look(`${server}/v4.test`)).error, null)
  t.match((await look(`${server}/v4.test?type=AAAA`)).error, { code: 'dns_servfail' })
})

t.test('dns_record assertions select the queried types and are evaluated', async t => {
  given.behave('answer')
  const rows: [operator: string, value: string, isUp: boolean][] = [
    ['equals', 'MX: 10 mail.shop.test', true],
    ['equals', 'mx: 10 Mail.Shop.test.', true],
    ['equals', 'MX: 10 mail', false],
    ['not_equals', 'MX: 30 evil.test', true],
    ['not_equals', 'MX: 20 backup.shop.test', false],
    ['contains', 'TXT: v=spf1', true],
    ['not_contains', 'TXT: +all', true],
    ['not_contains', 'TXT: -all', false],
    ['matches', 'NS: ^ns\\d\\.', true],
    ['not_matches', 'A: ^10\\.', true],
    ['exists', 'CAA', true],
    ['exists', 'CNAME', false],
    ['not_exists', 'CNAME', true],
    ['exists', '', true],
    ['equals', '192.0.2.8', true],
    ['equals', '2001:db8::7', true],
    ['equals', '192.0.2.1', false],
  ]
  for (const [operator, value, isUp] of rows) {
    const assertions = [{ type: 'dns_record', operator, value }]
    const spec = createCheckSpec({ type: 'dns', url: `${server}/${name}`, assertions })
    const { outcome, failedAssertions } = await runCheck(spec, egress)
    t.equal(outcome, isUp ? Outcome.UP : Outcome.DOWN, `${operator} ${value}`)
    t.equal(failedAssertions.length, isUp ? 0 : 1)
  }
  given.behave('answer')
  await look(`${server}/${name}`, { assertions: [{ type: 'dns_record', operator: 'exists', value: 'SOA' }] })
  t.same(given.questions, ['udp SOA shop.test'])
})

t.test('An IPv6 address is shown as in RFC 5952, and equals every notation of it', async t => {
  given.behave('answer')
  const { dns } = await look(`${server}/v6.test?type=AAAA`)
  const values = dns?.records.map(({ value }) => value)
  t.same(values, ['2001:db8:0:0:1::', '2001:db8:0:5::10', '2001:db8:0:1:1:1:1:1'])
  const rows: [operator: string, value: string, isUp: boolean][] = [
    ['equals', 'AAAA: 2001:db8:0:0:1::', true],
    ['equals', 'AAAA: 2001:db8::1:0:0:0', true],
    ['equals', 'AAAA: 2001:0DB8:0000:0000:0001:0000:0000:0000', true],
    ['equals', '2001:DB8::1:0:0:0', true],
    ['equals', '2001:db8::1', false],
    ['not_equals', 'AAAA: 2001:db8::1:0:0:0', false],
    ['not_equals', 'AAAA: 2001:db8::1', true],
    ['equals', 'TXT: 2001:DB8::0:A', true],
    ['equals', 'TXT: 2001:db8::b', false],
    ['contains', 'AAAA: 2001:db8:0:0:1', true],
  ]
  for (const [operator, value, isUp] of rows) {
    const assertions = [{ type: 'dns_record', operator, value }]
    const { outcome } = await runCheck(createCheckSpec({ type: 'dns', url: `${server}/v6.test`, assertions }), egress)
    t.equal(outcome, isUp ? Outcome.UP : Outcome.DOWN, `${operator} ${value}`)
  }
})
