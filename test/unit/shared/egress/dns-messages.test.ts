import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type Answer, decode, encode } from 'dns-packet'
import t from 'tap'
import { decodeReply } from '../../../../shared/egress/dns/dns-message.ts'
import { createDeadline, createEgress, queryDns } from '../../../../shared/egress/index.ts'
import { startDnsServer } from '../../../support/dns-server.ts'
import type { Teardown } from '../../../support/teardown.ts'

const name = 'shop.test'
const asked = { id: 7, name, type: 'NS' } as const
const NS = 2
const NULL = 10

type RawRecord = { name: Buffer; type: number; data: Buffer }
type RawMessage = { id?: number; question?: Buffer; answers?: RawRecord[]; others?: RawRecord[] }

const uint16 = (value: number) => Buffer.from([value >> 8, value & 0xff])
const pointerTo = (offset: number) => uint16(0xc000 | offset)
const toName = (text: string) => {
  const labels = text.split('.').map(label => Buffer.concat([Buffer.of(label.length), Buffer.from(label)]))
  return Buffer.concat([...labels, Buffer.of(0)])
}

/** A response; `question` and names are as in the message, so that tests can damage them. */
function toMessage({ id = 7, question = toName(name), answers = [], others = [] }: RawMessage): Buffer {
  const header = Buffer.concat([id, 0x8400, 1, answers.length, others.length, 0].map(uint16))
  const records = [...answers, ...others].map(record =>
    Buffer.concat([
      record.name,
      uint16(record.type),
      uint16(1),
      Buffer.alloc(4),
      uint16(record.data.length),
      record.data,
    ]),
  )
  return Buffer.concat([header, question, uint16(NS), uint16(1), ...records])
}

/** The offset of the name in the question. */
const QUESTION_AT = 12
/** The offset of the data of the first record, whose name is a pointer. */
const FIRST_DATA_AT = QUESTION_AT + toName(name).length + 4 + 12

/** A record of data that is a chain of pointers, each to the one before it; the first one points to the question. */
function toChain(jumps: number): { record: RawRecord; end: number } {
  const links = Array.from({ length: jumps }, (_, i) => pointerTo(i === 0 ? QUESTION_AT : FIRST_DATA_AT + 2 * (i - 1)))
  const record = { name: pointerTo(QUESTION_AT), type: NULL, data: Buffer.concat(links) }
  return { record, end: FIRST_DATA_AT + 2 * (jumps - 1) }
}

/** As many records as fit in 64 KiB, whose names go through a long chain of pointers. */
function toExpensiveMessage(id: number, question = toName(name), count = 3_900): Buffer {
  const { record, end } = toChain(8_000)
  const others = Array.from({ length: count }, () => ({ name: pointerTo(end), type: NULL, data: Buffer.alloc(0) }))
  return toMessage({ id, question, answers: [record, ...others] })
}

t.test('Names with pointers are read, as servers write them', async t => {
  const answers = [
    { name: pointerTo(QUESTION_AT), type: NS, data: Buffer.concat([Buffer.from('\x03NS1'), pointerTo(QUESTION_AT)]) },
    { name: pointerTo(QUESTION_AT), type: NULL, data: Buffer.from('not a name') },
    { name: toName('WWW.shop.test'), type: NS, data: pointerTo(QUESTION_AT + 5) },
  ]
  t.same(decodeReply(toMessage({ question: toName('Shop.TEST'), answers }), asked), {
    rcode: 'NOERROR',
    records: [
      { type: 'NS', name, ttlS: 0, value: 'ns1.shop.test' },
      { type: 'NS', name: 'www.shop.test', ttlS: 0, value: 'test' },
    ],
  })
})

t.test('A reply is refused when it is damaged or answers another question', async t => {
  const good = { name: pointerTo(QUESTION_AT), type: NS, data: toName('ns1.shop.test') }
  const chain = toChain(17)
  const far = { name: pointerTo(chain.end), type: NS, data: toName('ns1.shop.test') }
  const near = { ...far, name: pointerTo(chain.end - 4) }
  t.equal(decodeReply(toMessage({ answers: [chain.record, near] }), asked)?.records.length, 1, '16 pointers')
  const longName = toName(Array(5).fill('a'.repeat(60)).join('.'))
  const rows: [title: string, message: Buffer][] = [
    ['another id', toMessage({ id: 8, answers: [good] })],
    ['another name', toMessage({ question: toName('elsewhere.test'), answers: [good] })],
    ['a pointer in the question', toMessage({ question: pointerTo(QUESTION_AT), answers: [good] })],
    ['18 pointers in a name', toMessage({ answers: [chain.record, far] })],
    [
      'a pointer to itself',
      toMessage({ answers: [{ ...good, name: pointerTo(QUESTION_AT), data: pointerTo(FIRST_DATA_AT) }] }),
    ],
    ['a name of more than 255 bytes', toMessage({ answers: [{ ...good, name: longName }] })],
    ['data without the whole name', toMessage({ answers: [{ ...good, data: Buffer.of(3, 65) }] })],
    ['an answer that is cut', toMessage({ answers: [good] }).subarray(0, -1)],
    ['another section that is cut', toMessage({ answers: [good], others: [good] }).subarray(0, -1)],
    ['no header', Buffer.from([0, 7, 0x84])],
  ]
  for (const [title, message] of rows) t.equal(decodeReply(message, asked), null, title)
})

t.test('A reply may have 500 answers, and names of limited length together', async t => {
  const toReply = (count: number, data: Buffer) =>
    decodeReply(toMessage({ answers: Array(count).fill({ name: pointerTo(QUESTION_AT), type: NS, data }) }), asked)
  t.equal(toReply(500, toName('ns1.shop.test'))?.records.length, 500)
  t.equal(toReply(501, toName('ns1.shop.test')), null)
  const long = toName(Array(4).fill('a'.repeat(62)).join('.'))
  t.equal(toReply(200, long)?.records.length, 200)
  t.equal(toReply(400, long), null)
})

t.test('Chains of pointers cost little', async t => {
  const before = process.cpuUsage()
  const wrongQuestion = toExpensiveMessage(7, toName('shop.best'))
  const manyAnswers = toExpensiveMessage(7)
  const fewAnswers = toExpensiveMessage(7, toName(name), 490)
  for (let i = 0; i < 150; i++) {
    for (const message of [wrongQuestion, manyAnswers, fewAnswers]) decodeReply(message, asked)
  }
  const { user, system } = process.cpuUsage(before)
  // without limits, each of the large messages takes 0.2 s
  t.ok((user + system) / 1e6 < 30, `processor time: ${(user + system) / 1e6} s`)
})

/** A server that answers each question with `replies` of it. */
async function startRawServer(t: Teardown, replies: (question: Buffer) => Buffer[]) {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => socket.close())
  const seen = { port: socket.address().port, questions: 0 }
  socket.on('message', (message, { port, address }) => {
    seen.questions++
    for (const reply of replies(message)) socket.send(reply, port, address)
  })
  return seen
}

const zone: Answer[] = [{ type: 'NS', name, ttl: 60, data: 'ns1.shop.test' }]

function answer(message: Buffer): Buffer {
  const { id, questions } = decode(message)
  return encode({ type: 'response', id, questions, answers: zone })
}

const wrong = (message: Buffer) => toExpensiveMessage(message.readUInt16BE(0), toName('shop.best'))
const foreign = (message: Buffer) => toMessage({ id: message.readUInt16BE(0) ^ 1 })

async function ask(nameservers: number[], server: { host: string; port: number } | null = null) {
  const egress = createEgress({ allow: ['127.0.0.1'], nameservers: nameservers.map(port => `127.0.0.1:${port}`) })
  const deadline = createDeadline(60_000)
  const found = await queryDns({ name, types: ['NS'], server }, deadline.signal, egress)
  deadline.clear()
  return found
}

t.test('A server that sends three wrong answers is not asked again', async t => {
  const flooding = await startRawServer(t, question => Array(40).fill(wrong(question)))
  const named = await ask([], { host: '127.0.0.1', port: flooding.port })
  t.match(named.error, { code: 'dns_invalid_response' })
  t.ok(flooding.questions < 5, 'the query does not go on until the deadline')
  const next = await startDnsServer(t, zone)
  const asked = await ask([flooding.port, next.port])
  t.match(asked, { error: null, server: `127.0.0.1:${next.port}` }, 'the next resolver answers')
})

t.test('Few wrong answers, and any number with another id, do not hide the right one', async t => {
  const noisy = await startRawServer(t, question => [
    ...Array(20).fill(foreign(question)),
    wrong(question),
    wrong(question),
    answer(question),
  ])
  const { error, replies } = await ask([noisy.port])
  t.equal(error, null)
  t.equal(replies[0]?.records[0]?.value, 'ns1.shop.test')
})
