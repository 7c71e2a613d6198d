import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { startDnsServer } from './dns-server.ts'
import type { Teardown } from './teardown.ts'

/** Hosts of URLs that are internal addresses: this machine first, then other addresses that are reachable only from inside. */
export const INNER_LITERALS = [
  ...['127.0.0.1', '127.1', '127.0.1', '127.0.0.2', '127.255.255.254', '127.0.0.1.', '0', '0.0.0.0', '2130706433'],
  ...['0x7f000001', '0x7F.1', '0177.0.0.1', '017700000001', '0x7f.0.0x0.01', '１２７.0.0.1', '①②⑦.⓪.⓪.①'],
  ...['127。0。0。1', '127．0．0．1', '127｡0｡0｡1', '%31%32%37.0.0.1', '127.0.0%2e1', '127%E3%80%820.0.1'],
  ...['[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::FFFF:7F00:1]', '[::ffff:0:0]', '[::127.0.0.1]'],
  ...['[::ffff:0:127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b:1::7f00:1]', '[2002:7f00:1::]'],
  ...['[2001:0:4136:e378:8000:63bf:3fff:fdd2]', '169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376'],
  ...['169.16689662', '[::ffff:a9fe:a9fe]', '[64:ff9b::a9fe:a9fe]', '[fd00:ec2::254]', '168.63.129.16'],
  ...['100.100.100.200', '10.0.0.1', '172.16.0.1', '192.168.0.1', '[fd00::1]', '[fe80::1]', '224.0.0.1', '[ff02::1]'],
  ...['255.255.255.255', '192.0.2.1', '[2001:db8::1]'],
]

/** Names that resolve to this machine, some also to other addresses; `startInnerNames` resolves those of `example`. */
export const INNER_NAMES = [
  ...['localhost', 'LOCALHOST', 'localhost.', 'LocalHost', 'ｌｏｃａｌｈｏｓｔ', 'a.localhost', '%6cocalhost'],
  ...[
    'inner.example',
    'INNER.example.',
    'inner。example',
    'half.example',
    'six.example',
    'mapped.example',
    'to.example',
  ],
]

/** Texts that are not the address of a web server, or that hide its host. */
export const NO_WEB_ADDRESSES = (port: number) => [
  ...['file:///etc/passwd', `ftp://127.0.0.1:${port}/`, `gopher://127.0.0.1:${port}/_x`, `dict://127.0.0.1:${port}/`],
  ...['javascript:alert(1)', 'data:text/plain,x', 'unix:/var/run/docker.sock', `ws://127.0.0.1:${port}/`],
  ...[
    `//127.0.0.1:${port}/`,
    `127.0.0.1:${port}/`,
    `/etc/passwd`,
    `https:127.0.0.1:${port}`,
    `jar:https://x.example!/`,
  ],
  ...[
    `https://user:pass@127.0.0.1:${port}/`,
    `https://example.com@127.0.0.1:${port}/`,
    `https://127.0.0.1:${port}@x.example/`,
  ],
  ...[
    `https://127.0.0.1:${port}\\@example.com/`,
    `https://127.0.0.1:${port}#@example.com/`,
    `https:\\\\127.0.0.1:${port}\\`,
  ],
  ...[
    `https://example.com:${port}:80/`,
    `https://[::1/`,
    'https://127.0.0.1:99999/',
    `https://127.0.0.1:${port}/\r\nX: y`,
  ],
  ...[
    `\thttps://127.0.0.1:${port}/`,
    `https://127.0.0.1\t:${port}/`,
    `https://127.0.0.1 :${port}/`,
    'https://',
    `https:///127.0.0.1:${port}/`,
  ],
]

/** A DNS server that resolves the names of `example` above. */
export const startInnerNames = (t: Teardown) =>
  startDnsServer(t, [
    { type: 'A', name: 'inner.example', ttl: 1, data: '127.0.0.1' },
    { type: 'A', name: 'half.example', ttl: 1, data: '8.8.8.8' },
    { type: 'A', name: 'half.example', ttl: 1, data: '127.0.0.1' },
    { type: 'AAAA', name: 'six.example', ttl: 1, data: '::1' },
    { type: 'AAAA', name: 'mapped.example', ttl: 1, data: '::ffff:127.0.0.1' },
    { type: 'A', name: 'to.example', ttl: 1, data: '0.0.0.0' },
  ])

type ForbiddenPlace = { port: number; touched: string[] }

/** A port of this machine, TCP and UDP, that records each client. */
export async function startForbiddenPlace(t: Teardown): Promise<ForbiddenPlace> {
  const touched: string[] = []
  const server = createServer(socket => {
    touched.push(`a connection from ${socket.remoteAddress}`)
    socket.on('error', () => {}).end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')
  })
  server.listen(0, '::')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const udp = createSocket('udp6', message => touched.push(`${message.length} bytes`)).bind(port, '::')
  await once(udp, 'listening')
  t.teardown(() => {
    server.close()
    udp.close()
  })
  return { port, touched }
}
