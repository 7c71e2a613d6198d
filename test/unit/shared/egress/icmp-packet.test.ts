import t from 'tap'
import { decodeEchoReply, encodeEcho, type IpFamily, setEchoSerial } from '../../../../shared/egress/icmp/packet.ts'

const token = Buffer.from('0123456789abcdef', 'hex')

function echo(family: IpFamily, serial: number): Buffer {
  const packet = encodeEcho(family, token)
  setEchoSerial(packet, serial)
  return packet
}

/** The reply of a host: the same bytes with another type. */
function replyTo(family: IpFamily, serial: number): Buffer {
  const packet = echo(family, serial)
  packet[0] = family === 4 ? 0 : 129
  packet.writeUInt16BE(0xbeef, 4)
  return packet
}

t.test('An echo has 64 bytes and the type of its family', async t => {
  t.equal(echo(4, 1).toString('hex'), `0800000000000001${'0123456789abcdef'}00000001${'00'.repeat(44)}`)
  t.equal(echo(6, 1)[0], 128)
})

t.test('A reply identifies its request beyond 65,536 requests', async t => {
  for (const family of [4, 6] as const) {
    for (const serial of [0, 1, 65_535, 65_536, 4_294_967_295]) {
      t.equal(decodeEchoReply(family, token, replyTo(family, serial)), serial)
    }
  }
})

t.test('Packets that are not replies to own requests are ignored', async t => {
  const changed = (at: number, byte: number) => {
    const packet = replyTo(4, 70_000)
    packet[at] = byte
    return packet
  }
  const rows: [what: string, packet: Buffer][] = [
    ['nothing', Buffer.alloc(0)],
    ['a header alone', replyTo(4, 1).subarray(0, 8)],
    ['one byte more', Buffer.concat([replyTo(4, 1), Buffer.alloc(1)])],
    ['a request', echo(4, 1)],
    ['a reply of the other family', replyTo(6, 1)],
    ['another code', changed(1, 1)],
    ['another sequence number', changed(7, 0)],
    ['another token', changed(8, 0xff)],
    ['another serial', changed(19, 0xff)],
  ]
  for (const [what, packet] of rows) t.equal(decodeEchoReply(4, token, packet), null, what)
})
