import { randomInt } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { DnsType } from '../../checks/dns-types.ts'
import { type CheckError, FailureSource, type Timings } from '../../checks/result.ts'
import type { DeadlineSignal } from '../deadline.ts'
import { createInternalFailure, createTargetFailure, EgressFailure, toCheckError, toEgressFailure } from '../failure.ts'
import { finishPhases, type PhaseTimer, startPhaseTimer, throwIfAborted, waitWithDeadline } from '../phases.ts'
import type { Egress } from '../types.ts'
import {
  type DnsMessageReply,
  type DnsQuestion,
  decodeReply,
  encodeQuestion,
  isTruncated,
  readResponseId,
} from './dns-message.ts'
import { queryOverTcp } from './dns-tcp.ts'
import { queryOverUdp, type UdpServer } from './dns-udp.ts'

export type DnsQuery = {
  name: string
  types: readonly DnsType[]
  /** null: the system's own resolvers */
  server: { host: string; port: number } | null
}

export type DnsReply = DnsMessageReply & { type: DnsType }

export type DnsQueryResult = {
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

type PendingQuestion = { question: DnsQuestion; message: Buffer; reply: DnsMessageReply | null; isCut: boolean }

/**
 * Asks a server, or the system's resolvers, for records of a name: over UDP, and over TCP what was cut. Never throws;
 * `signal` is the one deadline. Failures of a server that the monitor names are the target's, those of the system's
 * resolvers the resolver's.
 */
export async function queryDns(query: DnsQuery, signal: DeadlineSignal, egress: Egress): Promise<DnsQueryResult> {
  const trip = startPhaseTimer(signal, 'dnsUs')
  const asking = query.types.map(type => createPendingQuestion(query.name, type))
  const talk = { answeredBy: null as UdpServer | null, hasNonsense: false }
  let error: CheckError | null = null
  try {
    const guard = query.server ? egress : trusting(egress)
    const servers = await resolveServers(trip, query, guard)
    await queryOverUdp(trip, servers, {
      open: () => asking.filter(isOpen).map(({ message }) => message),
      take: (message, from) => {
        if (take(message, asking)) talk.answeredBy = from
        else talk.hasNonsense = true
        return !asking.some(isOpen)
      },
    })
    for (const one of asking.filter(({ isCut }) => isCut)) await askAgain(trip, one, talk.answeredBy!, guard)
  } catch (cause) {
    error = toCheckError(inWordsOfDns(toEgressFailure(cause), query, talk.hasNonsense))
  }
  const totalUs = finishPhases(trip)
  const replies = asking.flatMap(({ question: { type }, reply }) => (reply ? [{ type, ...reply }] : []))
  const { answeredBy } = talk
  const server = answeredBy ? serverText(answeredBy) : ''
  return { error, timings: trip.timings, totalUs, resolvedIp: answeredBy?.address ?? null, server, replies }
}

function createPendingQuestion(name: string, type: DnsType): PendingQuestion {
  const question = { id: randomInt(0x10000), name, type }
  return { question, message: encodeQuestion(question), reply: null, isCut: false }
}

const isOpen = ({ reply, isCut }: PendingQuestion) => reply === null && !isCut

/** Gives a message to the question that it answers; false when there is none. */
function take(message: Buffer, asking: PendingQuestion[]): boolean {
  const id = readResponseId(message)
  for (const one of asking) {
    if (one.question.id !== id || !isOpen(one)) continue
    if (isTruncated(message)) one.isCut = true
    else one.reply = decodeReply(message, one.question)
    if (!isOpen(one)) return true
  }
  return false
}

async function askAgain(trip: PhaseTimer, asking: PendingQuestion, server: UdpServer, egress: Egress): Promise<void> {
  throwIfAborted(trip)
  asking.reply = decodeReply(await queryOverTcp(trip, server, asking.message, egress), asking.question)
  if (asking.reply === null) throw nonsense()
}

async function resolveServers(trip: PhaseTimer, { server }: DnsQuery, egress: Egress): Promise<UdpServer[]> {
  throwIfAborted(trip)
  if (server) {
    const found = egress.resolve(server.host, server.port)
    const addresses = Array.isArray(found) ? found : await waitWithDeadline(trip, found)
    return addresses.map(address => ({ address, port: server.port }))
  }
  const servers = egress.nameservers()
  if (servers.length === 0) throw createInternalFailure('no_resolver', 'the probe has no resolver')
  return servers
}

/** The system's resolvers are the operator's own: they may be private, and nobody else can name them. */
const trusting = (egress: Egress): Egress => ({
  ...egress,
  resolve: address => [address],
  assertAllowed: () => undefined,
})

const nonsense = () => createTargetFailure('dns_invalid_response', 'the server sends what is no answer to the question')

function inWordsOfDns(failure: EgressFailure, { server, name }: DnsQuery, hasNonsense: boolean): EgressFailure {
  if (failure.source === FailureSource.INTERNAL) return failure
  const { code, message } = failure.code === 'timeout' ? (hasNonsense ? nonsense() : silence(name)) : failure
  return new EgressFailure(server ? FailureSource.TARGET : FailureSource.RESOLVER, code, message)
}

const silence = (name: string) => createTargetFailure('dns_timeout', `the server did not answer for ${name}`)

function serverText({ address, port }: UdpServer): string {
  const host = isIPv6(address) ? `[${address}]` : address
  return port === 53 ? address : `${host}:${port}`
}
