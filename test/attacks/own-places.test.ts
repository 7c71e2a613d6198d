import { createSocket } from 'node:dgram'
import { request as ask } from 'node:http'
import { networkInterfaces } from 'node:os'
import t from 'tap'
import { startEgressProxy } from '../../shared/egress/http/proxy.ts'
import {
  connectTcp,
  createConnections,
  createDeadline,
  createEgress,
  openTcp,
  pingHost,
  queryDns,
  sendRequest,
} from '../../shared/egress/index.ts'
import { readLocalSettings } from '../../tools/start/settings.ts'
import { startTarget } from '../support/target.ts'

/** The widest ranges that an operator can allow. */
const EVERYTHING = ['0.0.0.0/0', '::/0']
const own = await startTarget(t)
const other = await startTarget(t)
const names: Record<string, string[]> = { 'own.example': ['127.0.0.1'], 'half.example': ['8.8.8.8', '::1'] }
const options = { allow: EVERYTHING, resolver: async (name: string) => names[name] ?? [] }
const closed = createEgress({ ...options, deny: [`127.0.0.1:${own.port}`] })
const deadline = createDeadline(60_000)
t.teardown(deadline.clear)
const { signal } = deadline

const get = (url: string, egress = closed, changes = {}) =>
  sendRequest(
    { url, method: 'GET', headers: {}, body: null, signal, maxBodyBytes: 1_000, followRedirects: true, ...changes },
    egress,
  )

const ofMachine = Object.values(networkInterfaces())
  .flatMap(all => all ?? [])
  .filter(({ scopeid }) => !scopeid)
  .map(({ address, family }) => (family === 'IPv6' ? `[${address}]` : address))
const SPELLINGS = [
  ...['127.0.0.1', '127.1', '0177.0.0.1', '0x7f000001', '2130706433', '127.0.0.2', '0.0.0.0', '0', 'localhost'],
  ...['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:0:0]', 'own.example', 'half.example'],
  ...['LOCALHOST.', 'x.localhost', '１２７.0.0.1'],
]

t.test('An address of the installation is refused in every spelling, whatever EGRESS_ALLOW says', async t => {
  names.localhost = ['127.0.0.1', '::1']
  names['x.localhost'] = ['127.0.0.1']
  for (const host of [...SPELLINGS, ...ofMachine]) {
    const { error } = await get(`http://${host}:${own.port}/`)
    t.match(error, { code: 'blocked_target' }, host)
  }
  t.equal(own.requests.length, 0)
  t.match(await get(`http://127.0.0.1:${other.port}/`), { error: null, statusCode: 200 }, 'other ports are open')
})

t.test('Redirects and open connections do not reach addresses of the installation', async t => {
  other.behaveAt('/away', { kind: 'redirect', to: `http://127.0.0.1:${own.port}/` })
  t.match((await get(`http://127.0.0.1:${other.port}/away`)).error, { code: 'blocked_target' })
  const connections = createConnections(2)
  t.teardown(connections.close)
  const open = createEgress(options)
  const kept = { connections, keepAlive: true }
  t.equal((await get(`http://127.0.0.1:${own.port}/`, open, kept)).error, null)
  t.match((await get(`http://127.0.0.1:${own.port}/`, closed, kept)).error, { code: 'blocked_target' })
  t.equal(own.requests.length, 1)
})

t.test(
  'tcp and dns checks, clients of other protocols and the browser for screenshots pass the same guard',
  async t => {
    const target = { host: '127.0.0.1', port: own.port }
    t.match((await connectTcp(target, signal, closed)).error, { code: 'blocked_target' })
    await t.rejects(openTcp(target, signal, closed), { code: 'blocked_target' })
    const dns = await queryDns({ name: 'example.com', types: ['A'], server: target }, signal, closed)
    t.match(dns.error, { code: 'blocked_target' })
    const received: Buffer[] = []
    const udp = createSocket('udp4', message => received.push(message)).bind(own.port, '127.0.0.1')
    t.teardown(() => udp.close())
    await queryDns({ name: 'example.com', types: ['A'], server: target }, signal, closed)
    t.same(received, [])
    const proxy = await startEgressProxy(closed, { maxBytes: 1_000, connectWithinMs: 5_000 })
    t.teardown(proxy.close)
    own.requests.length = 0
    const throughProxy = { host: '127.0.0.1', port: new URL(proxy.url).port, path: `http://own.example:${own.port}/` }
    const cut = new Promise((_, reject) => ask(throughProxy).on('error', reject).on('response', reject).end())
    await t.rejects(cut, { code: 'ECONNRESET' })
    t.equal(proxy.refused(), 1)
    t.equal(own.requests.length, 0)
    const pinged = await pingHost({ host: '127.0.0.1', count: 1, gapMs: 200 }, signal, closed)
    t.not(pinged.error?.code, 'blocked_target', 'a ping has no port')
  },
)

t.test('Only canaries and ping URLs of the own API stay open', async t => {
  const api = createEgress({ ...options, deny: [`api=0.0.0.0:${own.port}`] })
  own.requests.length = 0
  const origin = `http://127.0.0.1:${own.port}`
  for (const path of ['/canary/eu-west?key=x', '/ping/some-token', '/ping/some-token/fail']) {
    t.equal((await get(`${origin}${path}`, api)).error, null, path)
  }
  t.equal(own.requests.length, 3)
  const refused = [
    '/',
    '/api/v1/monitors',
    '/canary',
    '/canary/../api/v1/monitors',
    '/canary/%2e%2e/metrics',
    '//canary/x',
  ]
  for (const path of refused) t.match((await get(`${origin}${path}`, api)).error, { code: 'blocked_target' }, path)
  t.match((await connectTcp({ host: '127.0.0.1', port: own.port }, signal, api)).error, { code: 'blocked_target' })
  t.equal(own.requests.length, 3)
})

t.test('An IPv4 address inside an IPv6 address is refused like the IPv4 address', async t => {
  const egress = createEgress({ ...options, deny: ['127.0.0.1:5432', '192.0.2.7:5432'] })
  for (const [inside, address] of [
    ['64:ff9b::7f00:1', 'NAT64'],
    ['64:ff9b::192.0.2.7', 'NAT64'],
    ['2002:7f00:1::1', '6to4'],
    ['2002:c000:207::', '6to4'],
    ['::ffff:0:127.0.0.1', 'IPv4-translated'],
    ['::127.0.0.1', 'IPv4-compatible'],
    ['::ffff:192.0.2.7', 'IPv4-mapped'],
  ] as const) {
    t.throws(() => egress.assertAllowed(inside, 5432), { code: 'blocked_target' }, `${address} ${inside}`)
    egress.assertAllowed(inside, 80)
  }
  egress.assertAllowed('64:ff9b::192.0.2.8', 5432)
  egress.assertAllowed('2002:c000:208::', 5432)
})

t.test('An own address is refused in IPv4 and IPv6 form, and no other address', async t => {
  const egress = createEgress({ ...options, deny: ['192.0.2.7:5432', '[2001:db8::7]:4222'] })
  for (const [address, port] of [
    ['192.0.2.7', 5432],
    ['::ffff:192.0.2.7', 5432],
    ['2001:db8:0:0::7', 4222],
  ] as const) {
    t.throws(() => egress.assertAllowed(address, port), { code: 'blocked_target' }, address)
  }
  egress.assertAllowed('192.0.2.8', 5432)
  egress.assertAllowed('192.0.2.7', 80)
  egress.assertAllowed('192.0.2.7', null)
  const wrong = ['4222', 'nats:4222', '::1:4222', '::1', 'fd00::/8', '127.0.0.1:99999', 'x=127.0.0.1:1']
  for (const deny of [...wrong, '10.0.0.0/33', '10.0.0.0/', '[fd00::/129]', '[fd00::]/8', '[::ffff:10.0.0.0/104]']) {
    t.throws(() => createEgress({ ...options, deny: [deny] }), /^EGRESS_DENY contains .* 10\.0\.0\.0\/8:4222/, deny)
  }
})

t.test('A network of the installation can be refused as a range, for every port or for one', async t => {
  const deny = [
    '172.30.31.0/24',
    '192.0.2.0/28:4222',
    '[2001:db8::/32]',
    '[2001:db9::/32]:4222',
    '198.51.100.7',
    '[2001:dba::7]',
  ]
  const egress = createEgress({ ...options, deny })
  const isRefused = (address: string, port: number | null) => {
    try {
      egress.assertAllowed(address, port)
      return false
    } catch (error) {
      t.match(error, { code: 'blocked_target' })
      return true
    }
  }
  for (const port of [22, 5432, null]) {
    for (const address of [
      '172.30.31.0',
      '172.30.31.255',
      '::ffff:172.30.31.9',
      '64:ff9b::172.30.31.9',
      '2001:db8:ffff::1',
    ])
      t.ok(isRefused(address, port), `${address} ${port}`)
    for (const address of ['198.51.100.7', '2001:dba::7']) t.ok(isRefused(address, port), `${address} ${port}`)
    for (const address of ['172.30.30.255', '172.30.32.0', '2001:db7::1', '198.51.100.8', '2001:dba::8'])
      t.notOk(isRefused(address, port), `${address} ${port}`)
  }
  for (const address of ['192.0.2.15', '2001:db9::1']) {
    t.ok(isRefused(address, 4222), address)
    for (const port of [80, null]) t.notOk(isRefused(address, port), `${address} ${port}`)
  }
  t.notOk(isRefused('192.0.2.16', 4222))
  t.notOk(isRefused('127.0.0.1', 4222), 'a range is not this machine')
})

t.test('A range of the own API keeps canaries and ping URLs open, unless another entry refuses them', async t => {
  const api = createEgress({
    ...options,
    deny: ['api=172.30.31.0/24:8080', 'api=198.51.100.7', '203.0.113.0/24', 'api=203.0.113.5:8080'],
  })
  for (const address of ['172.30.31.4', '198.51.100.7']) {
    for (const path of ['/canary/eu-west', '/ping/x']) api.assertAllowed(address, 8080, path)
    for (const path of ['/', null]) t.throws(() => api.assertAllowed(address, 8080, path), { code: 'blocked_target' })
  }
  t.throws(() => api.assertAllowed('203.0.113.5', 8080, '/canary/eu-west'), { code: 'blocked_target' })
})

t.test('A loopback address without a port means every port of this machine', async t => {
  const egress = createEgress({ ...options, deny: ['127.0.0.1'] })
  for (const address of ['127.0.0.1', '127.0.0.9', '::1', '0.0.0.0'])
    for (const port of [22, 5432, null]) t.throws(() => egress.assertAllowed(address, port), { code: 'blocked_target' })
  egress.assertAllowed('192.0.2.7', 22)
})

t.test('npm start does not allow private ranges when other machines can reach it', async t => {
  const allowed = (env: Record<string, string>) => readLocalSettings(env).egressAllow
  for (const HOST of ['', '127.0.0.1', 'localhost', '::1']) t.match(allowed({ HOST }), '127.0.0.0/8', HOST)
  for (const HOST of ['0.0.0.0', '::', '192.0.2.7', 'picket.example']) {
    t.equal(allowed({ HOST }), '', HOST)
    t.equal(allowed({ HOST, EGRESS_ALLOW: '10.0.0.0/8' }), '10.0.0.0/8', HOST)
  }
})
