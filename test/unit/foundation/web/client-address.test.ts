import t from 'tap'
import { parseClientAddress } from '../../../../control-plane/foundation/web/limits/client-address.ts'

t.test('The address of a client is parsed in every form of a proxy; other texts are not addresses', async t => {
  const rows: [string, string | null][] = [
    ['203.0.113.9', '203.0.113.9'],
    ['203.0.113.9:51000', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:DB8::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ...['unknown', '', '1', '0x7f.1', '010.0.0.1', '203.0.113.9:x', '[', '1.2.3.4, 5.6.7.8'].map(
      text => [text, null] as [string, null],
    ),
  ]
  for (const [text, address] of rows) t.equal(parseClientAddress(text), address, text)
})
