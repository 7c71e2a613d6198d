import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, TRUNCATED_RESPONSE } from 'dns-packet'
import type { Teardown } from './teardown.ts'

/** How the server answers each question. */
export type DnsBehaviour =
  | 'answer'
  /** truncates the answer over UDP and sends it over TCP */
  | 'truncate'
  | 'truncate-and-refuse-tcp'
  | 'silent'
  | 'silent-about-a'
  | 'silent-about-aaaa'
  | 'truncate-silent-about-aaaa'
  | 'lose-the-first'
  | 'garbage'
  | 'wrong-id'
  | 'other-question'
  /** sends the right answer from another port */
  | 'spoofed-source'
  /** sends garbage and a wrong id before the answer */
  | 'noise-first'
  | 'nxdomain'
  | 'servfail'
  | 'servfail-about-aaaa'
  | 'notimp'
  | 'refused'

const RCODES: Partial<Record<DnsBehaviour, number>> = { servfail: 2, nxdomain: 3, notimp: 4, refused: 5 }

type DnsServer = {
  port: number
  behave: (behaviour: DnsBehaviour) => void
  /** every received question, as `udp MX example.com` */
  questions: string[]
  /** the addresses from which datagrams came */
  senders: Set<string>
}

/** A DNS server, UDP and TCP, that serves `zone` and misbehaves on demand. */
export async function startDnsServer(t: Teardown, zone: Answer[], host = '127.0.0.1'): Promise<DnsServer> {
  let behaviour: DnsBehaviour = 'answer'
  const questions: string[] = []
  const senders = new Set<string>()
  const { udp, tcp } = await bindBoth(host)
  const stranger = createSocket('udp4').bind(0, '127.0.0.1')
  await once(stranger, 'listening')
  const { port } = udp.address()

  function reply(message: Buffer, over: 'udp' | 'tcp'): Buffer | null {
    const { id = 0, questions: [question] = [] } = decode(message)
    if (!question) return null
    questions.push(`${over} ${question.type} ${question.name}`)
    const isAaaa = question.type === 'AAAA'
    if (behaviour === 'silent' || behaviour.endsWith(`silent-about-${question.type.toLowerCase()}`)) return null
    if (behaviour === 'lose-the-first' && questions.length === 1) return null
    const rcode = behaviour === 'servfail-about-aaaa' && isAaaa ? 2 : (RCODES[behaviour] ?? 0)
    const isCut = behaviour.startsWith('truncate') && over === 'udp'
    const found = zone.filter(({ name, type }) => name === question.name && [question.type, 'CNAME'].includes(type))
    return encode({
      type: 'response',
      id: behaviour === 'wrong-id' ? id ^ 1 : id,
      flags: AUTHORITATIVE_ANSWER | rcode | (isCut ? TRUNCATED_RESPONSE : 0),
      questions: [behaviour === 'other-question' ? { type: 'A', name: 'elsewhere.test' } : question],
      answers: rcode === 0 && !isCut ? found : [],
    })
  }

  udp.on('message', (message, { port: to, address }: RemoteInfo) => {
    senders.add(address)
    const answer = reply(message, 'udp')
    if (!answer) return
    const garbage = Buffer.from('not a message at all')
    const wrongId = Buffer.from(answer)
    wrongId.writeUInt16BE(answer.readUInt16BE(0) ^ 1, 0)
    if (behaviour === 'garbage' || behaviour === 'noise-first') udp.send(garbage, to, address)
    if (behaviour === 'noise-first') udp.send(wrongId, to, address)
    if (behaviour === 'spoofed-source') stranger.send(answer, to, address)
    else if (behaviour !== 'garbage') udp.send(answer, to, address)
  })

  tcp.on('connection', socket => {
    socket.on('error', () => {})
    if (behaviour === 'truncate-and-refuse-tcp') return socket.destroy()
    let received = Buffer.alloc(0)
    return socket.on('data', chunk => {
      received = Buffer.concat([received, chunk as Buffer])
      const answer = received.length > 2 ? reply(received.subarray(2), 'tcp') : null
      if (!answer) return
      const length = Buffer.alloc(2)
      length.writeUInt16BE(answer.length)
      // in parts, as a network may deliver it
      for (const piece of [length, answer.subarray(0, 5), answer.subarray(5)]) socket.write(piece)
    })
  })
  t.teardown(() => {
    udp.close()
    stranger.close()
    tcp.close()
  })
  return {
    port,
    questions,
    senders,
    behave(next) {
      behaviour = next
      questions.length = 0
    },
  }
}

/** Binds UDP and TCP to the same port, which must be free for both. */
async function bindBoth(host: string): Promise<{ udp: Socket; tcp: Server }> {
  for (;;) {
    const udp = createSocket('udp4').bind(0, host)
    await once(udp, 'listening')
    const tcp = createServer().listen(udp.address().port, host)
    const isFree = await once(tcp, 'listening').then(
      () => true,
      () => false,
    )
    if (isFree) return { udp, tcp }
    udp.close()
  }
}
