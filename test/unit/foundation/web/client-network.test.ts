import t from 'tap'
import {
  parsePeerAddress,
  toClientNetwork,
  toSocketNetwork,
} from '../../../../control-plane/foundation/platform/network/client-network.ts'
import { getClientNetwork } from '../../../../control-plane/foundation/web/limits/client-network.ts'

t.test('An IPv4 address counts as itself, an IPv6 address as its /64', async t => {
  const rows: [string, string][] = [
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['::1', '::/64'],
  ]
  for (const [ip, network] of rows) t.equal(toClientNetwork(ip), network)
})

t.test('The network of a socket and of a gRPC peer; an unknown address is its own network', async t => {
  const rows: [string | undefined, string][] = [
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    [undefined, ''],
    ['/run/socket', '/run/socket'],
  ]
  for (const [address, network] of rows) t.equal(toSocketNetwork(address), network)
  const peers = [
    ['203.0.113.9:50051', '203.0.113.9'],
    ['::ffff:203.0.113.9:50051', '::ffff:203.0.113.9'],
    ['[2001:db8::1]:50051', '2001:db8::1'],
    ['unknown', 'unknown'],
  ] as const
  for (const [peer, address] of peers) t.equal(parsePeerAddress(peer), address)
})

t.test('A request counts against its client, otherwise its proxy, also after the client disconnected', async t => {
  const proxy = { remoteAddress: '10.0.0.1' }
  const rows: [request: Parameters<typeof getClientNetwork>[0], network: string][] = [
    [{ ip: '203.0.113.9', socket: proxy }, '203.0.113.9'],
    [{ ip: 'anything', socket: proxy }, '10.0.0.1'],
    [{ socket: proxy }, '10.0.0.1'],
    [{ socket: {} }, '0.0.0.0'],
  ]
  for (const [request, network] of rows) t.equal(getClientNetwork(request), network)
})
