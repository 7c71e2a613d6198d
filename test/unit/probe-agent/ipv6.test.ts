import t from 'tap'
import { reachesInternet } from '../../../probe-agent/fleet/ipv6.ts'

const NONE = '0'.repeat(32)
const route = (destination: string, prefix: string, device: string) =>
  `${destination.padEnd(32, '0')} ${prefix} ${NONE} 00 ${NONE} 00000400 00000001 00000000 00000001 ${device.padStart(8)}`

const ROWS: [title: string, table: string | null, reaches: boolean][] = [
  ['a default route', [route('fd00', '40', 'eth0'), route('', '00', 'eth0')].join('\n'), true],
  ['a route to all public addresses', route('2', '03', 'wg0'), true],
  [
    'private addresses of a container, and the route that refuses the rest',
    [route('fd00', '40', 'eth0'), route('', '00', 'lo')].join('\n'),
    false,
  ],
  ['link-local addresses', [route('fe80', '40', 'eth0'), route('ff00', '08', 'eth0')].join('\n'), false],
  ['no routes', '', false],
  ['a system without the file', null, true],
]
for (const [title, table, reaches] of ROWS)
  t.test(`A probe with ${title} ${reaches ? 'checks' : 'does not take'} targets that have only IPv6`, async t => {
    t.equal(reachesInternet(table), reaches)
  })
