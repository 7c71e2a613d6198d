import t from 'tap'
import { findBlockReason, parseAllowedRanges } from '../../../../shared/egress/guard/policy.ts'
import { createEgress } from '../../../../shared/egress/index.ts'

const refused: [address: string, why: string][] = [
  ['127.0.0.1', 'a loopback address'],
  ['127.255.255.254', 'a loopback address'],
  ['10.0.0.1', 'a private address'],
  ['172.16.0.1', 'a private address'],
  ['172.31.255.255', 'a private address'],
  ['192.168.1.1', 'a private address'],
  ['169.254.169.254', 'a link-local address'],
  ['168.63.129.16', 'a metadata address'],
  ['100.64.0.1', 'an address behind carrier-grade NAT'],
  ['100.100.100.200', 'an address behind carrier-grade NAT'],
  ['0.0.0.0', 'an unspecified address'],
  ['0.1.2.3', 'an unspecified address'],
  ['224.0.0.1', 'a multicast address'],
  ['240.0.0.1', 'a reserved address'],
  ['255.255.255.255', 'a broadcast address'],
  ['192.0.2.1', 'a reserved address'],
  ['198.51.100.7', 'a reserved address'],
  ['203.0.113.7', 'a reserved address'],
  ['198.18.0.1', 'a reserved address'],
  ['192.0.0.192', 'a reserved address'],
  ['192.88.99.1', 'a reserved address'],
  ['::', 'an unspecified address'],
  ['::1', 'a loopback address'],
  ['fe80::1', 'a link-local address'],
  ['fc00::1', 'a private address'],
  ['fd00:ec2::254', 'a private address'],
  ['ff02::1', 'a multicast address'],
  ['::ffff:127.0.0.1', 'an IPv4 address in IPv6 form'],
  ['::ffff:7f00:1', 'an IPv4 address in IPv6 form'],
  ['::ffff:8.8.8.8', 'an IPv4 address in IPv6 form'],
  ['::127.0.0.1', 'an IPv4 address in IPv6 form'],
  ['::ffff:0:127.0.0.1', 'an IPv4 address in IPv6 form'],
  ['64:ff9b::7f00:1', 'an IPv4 address behind NAT64'],
  ['64:ff9b::169.254.169.254', 'an IPv4 address behind NAT64'],
  ['64:ff9b:1::a00:1', 'an IPv4 address behind NAT64'],
  ['2002:7f00:1::', 'an IPv4 address behind 6to4'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'an IPv4 address behind Teredo'],
  ['2001:db8::1', 'a reserved address'],
  ['3fff::1', 'a reserved address'],
  ['fec0::1', 'a reserved address'],
  ['100::1', 'a reserved address'],
  ['5f00::1', 'a reserved address'],
  ['4000::1', 'a reserved address'],
  ['fe80::1%eth0', 'not a plain IP address'],
  ['example.com', 'not a plain IP address'],
]

t.test('An address outside the public internet is refused with the reason', async t => {
  for (const [address, why] of refused) t.equal(findBlockReason(address, []), why, address)
})

t.test('Public addresses are allowed', async t => {
  for (const address of ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450::1']) {
    t.equal(findBlockReason(address, []), null, address)
  }
})

t.test('EGRESS_ALLOW allows ranges, and an IPv4 range covers its IPv6 form', async t => {
  const allow = parseAllowedRanges(['127.0.0.0/8', 'fd00::/8', '10.1.2.3'])
  for (const address of ['127.0.0.1', '::ffff:127.0.0.1', 'fd12::1', '10.1.2.3']) {
    t.equal(findBlockReason(address, allow), null, address)
  }
  for (const address of ['10.1.2.4', '::1', '::ffff:10.1.2.4', 'fe80::1'])
    t.not(findBlockReason(address, allow), null, address)
})

t.test('An invalid range is a configuration error', async t => {
  for (const text of ['10.0.0.0/40', 'loopback', '10.0.0.0/']) {
    t.throws(() => parseAllowedRanges([text]), {
      message: `"${text}" is not a CIDR range; use a form like 10.0.0.0/8 or fd00::/8`,
    })
  }
})

const spellings = [
  '127.0.0.1',
  '0177.0.0.1',
  '0x7f.1',
  '0x7f000001',
  '2130706433',
  '017700000001',
  '127.1',
  '127.0.1',
  '127。0。0。1',
  '１２７.0.0.1',
  '①②⑦.⓪.⓪.①',
  '127.0.0.1.',
  '%31%32%37.0.0.1',
  '[::1]',
  '::1',
  '[::ffff:127.0.0.1]',
  '::ffff:7f00:1',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '0',
]

t.test('Every spelling of a private address is refused, as a literal and on connection', async t => {
  const egress = createEgress({ allow: [], resolver: async () => t.fail('nothing to resolve') as never })
  for (const host of spellings) {
    t.match(egress.checkLiteral(host), /cannot be a target/, host)
    t.throws(() => egress.resolve(host, 80), { code: 'blocked_target' }, host)
  }
})

t.test('A name is not checked before it is resolved', async t => {
  const egress = createEgress({ allow: [] })
  for (const name of ['localhost', 'example.com', 'localtest.me']) t.equal(egress.checkLiteral(name), null, name)
})

t.test('An invalid host is not resolved', async t => {
  const egress = createEgress({ allow: [], resolver: async () => t.fail('nothing to resolve') as never })
  for (const host of ['a b', 'a/b', 'user@host', 'host:80', '[::1', 'fe80::1%eth0', '1.2.3.4.5', 'a\u0000b']) {
    t.throws(() => egress.resolve(host, 80), { code: /^(dns_not_found|blocked_target)$/ }, host)
  }
})
