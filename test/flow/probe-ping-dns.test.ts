import t from 'tap'
import { Outcome } from '../../proto/gen/probe/v1/result.ts'
import { startDnsServer } from '../support/dns-server.ts'
import { assignment, checkSpec, startFleetServer } from '../support/fleet-server.ts'
import { startNats } from '../support/nats.ts'
import { startProbe } from '../support/probe.ts'
import { collectResults } from '../support/result-collector.ts'

t.test('A probe logs how it pings, and sends details of pings and DNS answers', async t => {
  const nats = await startNats(t)
  const collector = await collectResults(t, nats.url)
  const txt = Array.from({ length: 80 }, (_, i) => `${i} ${'x'.repeat(700)}`)
  const longTexts = txt.map(data => ({
    type: 'TXT' as const,
    name: 'long.test',
    ttl: 5,
    data: data.match(/.{1,250}/g)!,
  }))
  const server = await startDnsServer(t, [{ type: 'A', name: 'shop.test', ttl: 60, data: '192.0.2.7' }, ...longTexts])
  const fleet = await startFleetServer(t, { natsUrl: nats.url })
  const probe = startProbe(t, fleet.url)
  const way = await probe.untilEvent('icmp')
  t.match(way, { msg: /^icmp: (socket|ping program|none)/, ipv4: /^(socket|ping program|none)$/ })
  const { capabilities } = await fleet.hello(1)
  t.ok(capabilities.includes('dns'))
  t.equal(capabilities.includes('ping'), way.ipv4 !== 'none' || way.ipv6 !== 'none')

  const at = `dns://127.0.0.1:${server.port}`
  const assertions = [{ type: 'dns_record', operator: 'equals', value: 'A: 192.0.2.8' }]
  const specs = {
    'm-ping': checkSpec('127.0.0.1', { type: 'ping' }),
    'm-dns': checkSpec(`${at}/shop.test`, { type: 'dns', assertions }),
    'm-long': checkSpec(`${at}/long.test?type=TXT`, { type: 'dns' }),
  }
  await fleet.assign({
    upserts: Object.entries(specs).map(([id, spec]) => assignment(id, spec, { checkAtOnce: true })),
  })

  const [ping] = await collector.atLeast(1, 'm-ping')
  t.match(ping, { outcome: Outcome.UP, ping: { sent: 3, received: 3 }, resolvedIp: '127.0.0.1', dns: undefined })
  const [dns] = await collector.atLeast(1, 'm-dns')
  t.match(dns, {
    outcome: Outcome.DOWN,
    error: { code: 'assertion_failed' },
    failedAssertions: [{ ...assertions[0], actual: '192.0.2.7' }],
    dns: {
      rcode: 'NOERROR',
      server: `127.0.0.1:${server.port}`,
      records: [{ type: 'A', name: 'shop.test', ttlS: 60, value: '192.0.2.7' }],
    },
  })
  const [long] = await collector.atLeast(1, 'm-long')
  t.equal(long?.outcome, Outcome.UP)
  t.equal(long?.dns?.records.length, 50, 'a result keeps so many records')
  t.ok(long?.dns?.records.every(({ value }) => value.length === 500))
})
