import { randomInt } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { DnsType } from '../dns-types.ts'
import { type CheckError, FailureSource, type Timings } from '../result.ts'
import type { Signal } from './deadline.ts'
import { decodeReply, encodeQuestion, isTruncated, type Question, type Reply, responseId } from './dns-message.ts'
import { exchangeTcp } from './dns-tcp.ts'
import { checkErrorOf, EgressFailure, failureOf, internalFailure, targetFailure } from './failure.ts'
import type { Egress } from './index.ts'
import { finish, startTrip, type Trip, throwIfAborted, waitFor } from './trip.ts'
import { exchangeUdp, type UdpServer } from './udp.ts'

export type DnsQuery = {
  name: string
  types: readonly DnsType[]
  /** null: the system's own resolvers */
  server: { host: string; port: number } | null
}

export type DnsReply = Reply & { type: DnsType }

export type DnsSeen = {
  /** why a question was not answered; what an answer says is the caller's to judge */
  error: CheckError | null
  /** all in `dnsUs`, but for the connection when an answer was too long for UDP */
  timings: Timings
  totalUs: number
  /** the server's address */
  resolvedIp: string | null
  /** the server that answered, with its port unless that is 53 */
  server: string
  replies: DnsReply[]
}

type Asking = { question: Question; message: Buffer; reply: Reply | null; isCut: boolean }

/**
 * Asks a server, or the system's resolvers, for records of a name: over UDP, and over TCP what was cut. Never throws;
 * `signal` is the one deadline. Failures of a server that the monitor names are the target's, those of the system's
 * resolvers the resolver's.
 */
export async function askDns(query: DnsQuery, signal: Signal, egress: Egress): Promise<DnsSeen> {
  const trip = startTrip(signal, 'dnsUs')
  const asking = query.types.map(type => askingOf(query.name, type))
  const talk = { answeredBy: null as UdpServer | null, hasNonsense: false }
  let error: CheckError | null = null
  try {
    const guard = query.server ? egress : trusting(egress)
    const servers = await serversOf(trip, query, guard)
    await exchangeUdp(trip, servers, {
      open: () => asking.filter(isOpen).map(({ message }) => message),
      take: (message, from) => {
        if (take(message, asking)) talk.answeredBy = from
        else talk.hasNonsense = true
        return !asking.some(isOpen)
      },
    })
    for (const one of asking.filter(({ isCut }) => isCut)) await askAgain(trip, one, talk.answeredBy!, guard)
  } catch (cause) {
    error = checkErrorOf(inWordsOfDns(failureOf(cause), query, talk.hasNonsense))
  }
  const totalUs = finish(trip)
  const replies = asking.flatMap(({ question: { type }, reply }) => (reply ? [{ type, ...reply }] : []))
  const { answeredBy } = talk
  const server = answeredBy ? serverText(answeredBy) : ''
  return { error, timings: trip.timings, totalUs, resolvedIp: answeredBy?.address ?? null, server, replies }
}

function askingOf(name: string, type: DnsType): Asking {
  const question = { id: randomInt(0x10000), name, type }
  return { question, message: encodeQuestion(question), reply: null, isCut: false }
}

const isOpen = ({ reply, isCut }: Asking) => reply === null && !isCut

/** Gives a message to the question that it answers; false when there is none. */
function take(message: Buffer, asking: Asking[]): boolean {
  const id = responseId(message)
  for (const one of asking) {
    if (one.question.id !== id || !isOpen(one)) continue
    if (isTruncated(message)) one.isCut = true
    else one.reply = decodeReply(message, one.question)
    if (!isOpen(one)) return true
  }
  return false
}

async function askAgain(trip: Trip, asking: Asking, server: UdpServer, egress: Egress): Promise<void> {
  throwIfAborted(trip)
  asking.reply = decodeReply(await exchangeTcp(trip, server, asking.message, egress), asking.question)
  if (asking.reply === null) throw nonsense()
}

async function serversOf(trip: Trip, { server }: DnsQuery, egress: Egress): Promise<UdpServer[]> {
  throwIfAborted(trip)
  if (server) {
    const found = egress.resolve(server.host, server.port)
    const addresses = Array.isArray(found) ? found : await waitFor(trip, found)
    return addresses.map(address => ({ address, port: server.port }))
  }
  const servers = egress.nameservers()
  if (servers.length === 0) throw internalFailure('no_resolver', 'the probe has no resolver')
  return servers
}

/** The system's resolvers are the operator's own: they may be private, and nobody else can name them. */
const trusting = (egress: Egress): Egress => ({
  ...egress,
  resolve: address => [address],
  assertAllowed: () => undefined,
})

const nonsense = () => targetFailure('dns_invalid_response', 'the server sends what is no answer to the question')

function inWordsOfDns(failure: EgressFailure, { server, name }: DnsQuery, hasNonsense: boolean): EgressFailure {
  if (failure.source === FailureSource.INTERNAL) return failure
  const { code, message } = failure.code === 'timeout' ? (hasNonsense ? nonsense() : silence(name)) : failure
  return new EgressFailure(server ? FailureSource.TARGET : FailureSource.RESOLVER, code, message)
}

const silence = (name: string) => targetFailure('dns_timeout', `the server did not answer for ${name}`)

function serverText({ address, port }: UdpServer): string {
  const host = isIPv6(address) ? `[${address}]` : address
  return port === 53 ? address : `${host}:${port}`
}
