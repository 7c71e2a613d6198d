import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Answer } from 'dns-packet'
import t from 'tap'
import { FailureSource } from '../../../../shared/checks/result.ts'
import { parseHosts } from '../../../../shared/egress/guard/resolve.ts'
import { connectTcp, createDeadline, createEgress, createResolver } from '../../../../shared/egress/index.ts'
import { startBlackHole } from '../../../support/black-hole.ts'
import { startDnsServer as startZoneServer } from '../../../support/dns-server.ts'
import { startDnsServer, startRawServer } from '../../../support/raw-server.ts'
import { startTcpTarget } from '../../../support/target.ts'

const signal = new AbortController().signal
const NO_FILES = { hosts: '/nonexistent', servers: '/nonexistent' }

t.test('A name with one private address is refused completely', async t => {
  for (const addresses of [
    ['8.8.8.8', '127.0.0.1'],
    ['10.0.0.1', '8.8.8.8'],
    ['8.8.8.8', '::ffff:10.0.0.1'],
  ]) {
    const egress = createEgress({ allow: [], resolver: async () => addresses })
    const { error } = await connectTcp({ host: 'mixed.example', port: 80 }, signal, egress)
    t.match(error, { code: 'blocked_target', source: FailureSource.TARGET }, addresses.join())
  }
})

t.test('A name that changes to a private address between two lookups is never connected to', async t => {
  const target = await startTcpTarget(t)
  let looks = 0
  const egress = createEgress({ allow: [], resolver: async () => (looks++ === 0 ? ['8.8.8.8'] : ['127.0.0.1']) })
  t.same(await egress.resolve('rebind.example', 80), ['8.8.8.8'])
  const { error } = await connectTcp({ host: 'rebind.example', port: target.port }, signal, egress)
  t.equal(error?.code, 'blocked_target')
  t.equal(target.connections(), 0)
  t.equal(looks, 2, 'the address that was checked is the one that is connected to')
})

t.test('localhost is refused like a private address', async t => {
  const target = await startTcpTarget(t)
  const strict = await connectTcp({ host: 'localhost', port: target.port }, signal, createEgress({ allow: [] }))
  t.equal(strict.error?.code, 'blocked_target')
  const open = createEgress({ allow: ['127.0.0.0/8', '::1/128'] })
  const { error, resolvedIp } = await connectTcp({ host: 'LOCALHOST.', port: target.port }, signal, open)
  t.equal(error, null)
  t.equal(resolvedIp, '127.0.0.1')
})

t.test('The next address is tried when one refuses', async t => {
  const target = await startTcpTarget(t)
  const egress = createEgress({ allow: ['127.0.0.0/8'], resolver: async () => ['127.0.0.2', '127.0.0.1'] })
  const { error, resolvedIp } = await connectTcp({ host: 'two.example', port: target.port }, signal, egress)
  t.equal(error, null)
  t.equal(resolvedIp, '127.0.0.1')
})

t.test('A refused connection is the target’s fault, even when the other address has no route', async t => {
  const target = await startTcpTarget(t)
  await target.close()
  const egress = createEgress({ allow: ['0.0.0.0/0'], resolver: async () => ['224.0.0.1', '127.0.0.1'] })
  const deadline = createDeadline(60_000)
  const { error } = await connectTcp({ host: 'two.example', port: target.port }, deadline.signal, egress)
  deadline.clear()
  t.match(error, { code: 'connection_refused', source: FailureSource.TARGET })
})

t.test('Names are resolved by the DNS servers, and each failure has its source', async t => {
  const answers: Record<string, string[] | number> = {
    'here.example': ['127.0.0.1'],
    'empty.example': [],
    'ill.example': 2,
  }
  const server = await startDnsServer(t, name => answers[name] ?? 3)
  const hosts = `${t.testdir({ hosts: '127.0.0.9 by-hand.example\n' })}/hosts`
  const resolve = createResolver({ servers: [server], files: { ...NO_FILES, hosts } })
  t.same(await resolve('here.example'), ['127.0.0.1'])
  t.same(await resolve('by-hand.example'), ['127.0.0.9'])
  const { TARGET, RESOLVER } = FailureSource
  await t.rejects(resolve('gone.example'), {
    code: 'dns_not_found',
    source: TARGET,
    message: 'the name does not exist',
  })
  await t.rejects(resolve('empty.example'), {
    code: 'dns_not_found',
    source: TARGET,
    message: 'the name has no address',
  })
  await t.rejects(resolve('ill.example'), { code: 'dns_failed', source: RESOLVER })
  const unreachable = createResolver({ servers: ['127.0.0.1:1', '127.0.0.1:2'], files: NO_FILES })
  await t.rejects(unreachable('here.example'), {
    code: 'dns_failed',
    source: RESOLVER,
    message: 'no resolver can be reached',
  })
})

t.test('A process follows when the network replaces the DNS servers, and when a name is added by hand', async t => {
  const answering = (address: string) => startDnsServer(t, () => [address])
  const [before, after] = [await answering('127.0.0.1'), await answering('127.0.0.2')]
  const folder = t.testdir({ hosts: '', 'resolv.conf': 'nameserver 192.0.2.1\n' })
  const files = { hosts: `${folder}/hosts`, servers: `${folder}/resolv.conf` }
  // as the system's: read again by each new resolver
  const servers = [before]
  const resolve = createResolver({ servers, files, lookIntervalMs: 0 })
  t.same(await resolve('shop.example'), ['127.0.0.1'])
  servers[0] = after
  t.same(await resolve('shop.example'), ['127.0.0.1'], 'as long as the file has not changed')
  writeFileSync(`${folder}/new`, 'nameserver 192.0.2.22\n')
  renameSync(`${folder}/new`, files.servers)
  t.same(await resolve('shop.example'), ['127.0.0.2'])
  writeFileSync(files.hosts, '127.0.0.9 shop.example\n')
  t.same(await resolve('shop.example'), ['127.0.0.9'])
  rmSync(files.hosts)
  t.same(await resolve('shop.example'), ['127.0.0.2'])
})

t.test('Files are looked at again after the interval only', async t => {
  const folder = t.testdir({ hosts: '127.0.0.8 shop.example\n' })
  const resolve = createResolver({ files: { ...NO_FILES, hosts: `${folder}/hosts` }, lookIntervalMs: 3_600_000 })
  writeFileSync(`${folder}/hosts`, '127.0.0.99 shop.example\n')
  t.same(await resolve('shop.example'), ['127.0.0.8'])
})

t.test('A network with DNS64 does not change the verdict about an IPv4 address', async t => {
  const rows: [answer: string[], outcome: string[] | RegExp][] = [
    [['93.184.216.34', '64:ff9b::5db8:d822'], ['93.184.216.34']],
    [['64:ff9b::5db8:d822'], ['93.184.216.34']],
    [['64:ff9b::7f00:1'], /^127\.0\.0\.1 is a loopback address/],
    [['93.184.216.34', '64:ff9b::a9fe:a9fe'], /^169\.254\.169\.254 is a link-local address/],
    [['64:ff9b:1::5db8:d822'], /behind NAT64/],
  ]
  for (const [answer, outcome] of rows) {
    const resolving = (async () =>
      createEgress({ allow: [], resolver: async () => answer }).resolve('v4.example', 80))()
    if (Array.isArray(outcome)) t.same(await resolving, outcome)
    else await t.rejects(resolving, { code: 'blocked_target', message: outcome }, answer.join())
  }
  const allowed = createEgress({ allow: ['64:ff9b::/96'], resolver: async () => ['64:ff9b::5db8:d822'] })
  t.same(
    await allowed.resolve('v4.example', 80),
    ['64:ff9b::5db8:d822'],
    'a network with IPv6 only can allow the prefix',
  )
})

t.test('When a DNS server answers with SERVFAIL, REFUSED or NOTIMP, the others are asked', async t => {
  const [servfail, nxdomain, notimp, refused] = await Promise.all([2, 3, 4, 5].map(c => startDnsServer(t, () => c)))
  const good = await startDnsServer(t, () => ['127.0.0.1'])
  const resolveWith = (...servers: (string | undefined)[]) =>
    createResolver({ servers: servers.map(String), files: NO_FILES })('shop.example')
  for (const first of [servfail, notimp, refused]) t.same(await resolveWith(first, good), ['127.0.0.1'])
  t.same(await resolveWith(servfail, refused, good), ['127.0.0.1'])
  const { TARGET, RESOLVER } = FailureSource
  await t.rejects(resolveWith(nxdomain, good), { code: 'dns_not_found', source: TARGET }, 'the first answer is final')
  await t.rejects(resolveWith(refused, nxdomain), { code: 'dns_not_found', source: TARGET })
  for (const servers of [
    [servfail, refused],
    [servfail, '127.0.0.1:1'],
  ]) {
    const message = 'the resolver could not answer (ESERVFAIL)'
    await t.rejects(resolveWith(...servers), { code: 'dns_failed', source: RESOLVER, message }, 'no better answer')
  }
})

t.test(
  'A server that is silent about one type does not delay the addresses of the other, and is not asked any more',
  async t => {
    const answers: Answer[] = [
      { type: 'A', name: 'shop.example', ttl: 60, data: '127.0.0.1' },
      { type: 'AAAA', name: 'shop.example', ttl: 60, data: '::1' },
    ]
    for (const [behaviour, addresses] of [
      ['silent-about-aaaa', ['127.0.0.1']],
      ['silent-about-a', ['::1']],
      ['answer', ['127.0.0.1', '::1']],
    ] as const) {
      const server = await startZoneServer(t, answers)
      server.behave(behaviour)
      const resolve = createResolver({ servers: [`127.0.0.1:${server.port}`], files: NO_FILES })
      t.same(await resolve('shop.example'), addresses, behaviour)
      const count = (type: string) => server.questions.filter(asked => asked === `udp ${type} shop.example`).length
      t.ok(count('AAAA') <= 2 && count('A') <= 2, `${behaviour}: not after all repetitions, but ${server.questions}`)
      const resources = process.getActiveResourcesInfo()
      t.notOk(resources.includes('QUERYWRAP'), `${behaviour}: no query is left of ${resources}`)
    }
  },
)

t.test('A silent resolver ends at the deadline and is not the target’s fault', async t => {
  const egress = createEgress({ allow: [], resolver: () => new Promise(() => {}) })
  const deadline = createDeadline(50)
  const { error, timings, totalUs } = await connectTcp({ host: 'slow.example', port: 80 }, deadline.signal, egress)
  t.match(error, { code: 'timeout', source: FailureSource.RESOLVER, message: 'timed out while resolving the name' })
  t.equal(timings.dnsUs, totalUs)
})

t.test('A connection that is not accepted ends at the deadline', async t => {
  const port = await startBlackHole(t)
  const egress = createEgress({ allow: ['127.0.0.1'] })
  const deadline = createDeadline(100)
  const { error, timings, totalUs } = await connectTcp({ host: '127.0.0.1', port }, deadline.signal, egress)
  t.match(error, { code: 'timeout', source: FailureSource.TARGET, message: 'timed out while connecting' })
  t.equal(timings.connectUs, totalUs)
})

t.test('An address that drops packets leaves time for the next one, also before a near deadline', async t => {
  const port = await startBlackHole(t)
  const server = createServer(socket => socket.destroy())
  server.listen(port, '127.0.0.2')
  t.teardown(() => server.close())
  const egress = createEgress({ allow: ['127.0.0.0/8'], resolver: async () => ['127.0.0.1', '127.0.0.2'] })
  for (const timeoutMs of [60_000, 1_900]) {
    const deadline = createDeadline(timeoutMs)
    const { error, resolvedIp } = await connectTcp({ host: 'two.example', port }, deadline.signal, egress)
    deadline.clear()
    t.same({ error, resolvedIp }, { error: null, resolvedIp: '127.0.0.2' }, `${timeoutMs} ms`)
  }
})

t.test('An expired deadline opens no connection', async t => {
  let connections = 0
  const port = await startRawServer(t, () => connections++)
  const gone = AbortSignal.abort()
  const { error } = await connectTcp({ host: '127.0.0.1', port }, gone, createEgress({ allow: ['127.0.0.1'] }))
  t.match(error, { code: 'aborted', source: FailureSource.INTERNAL })
  t.equal(connections, 0)
})

t.test('A hosts file returns all addresses of a name, IPv4 first', async t => {
  const hosts = parseHosts(
    '# comment\n::1 localhost ip6-localhost\n127.0.0.1\tlocalhost # again\n\nfe80::1%lo0 scoped\nnonsense\n',
  )
  t.same(hosts.get('localhost'), ['127.0.0.1', '::1'])
  t.same(hosts.get('ip6-localhost'), ['::1'])
  t.equal(hosts.has('scoped'), false)
})
