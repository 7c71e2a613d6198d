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

type DnsQuery = {
  name: string
  types: readonly DnsType[]
  /** null: the system's resolvers */
  server: { host: string; port: number } | null
}

export type DnsReply = DnsMessageReply & { type: DnsType }

export type DnsQueryResult = {
  /** why a question was not answered; the caller evaluates the content of answers */
  error: CheckError | null
  /** all in `dnsUs`, except for the TCP connection after a truncated answer */
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
 * Queries a server, or the system's resolvers, for records of a name: over UDP, and over TCP after a truncated answer. Never
 * throws; `signal` is the deadline. Failures of a server that the monitor names have the source `target`, those of the
 * system's resolvers `resolver`, also while they resolve the name of such a server.
 */
export async function queryDns(query: DnsQuery, signal: DeadlineSignal, egress: Egress): Promise<DnsQueryResult> {
  const phases = startPhaseTimer(signal, 'dnsUs')
  const pending = query.types.map(type => createPendingQuestion(query.name, type))
  const exchange = { answeredBy: null as UdpServer | null, hasInvalidAnswer: false }
  let error: CheckError | null = null
  let isServerKnown = query.server === null
  try {
    const guard = query.server ? egress : createTrustingGuard(egress)
    const servers = await resolveServers(phases, query, guard)
    isServerKnown = true
    await queryOverUdp(phases, servers, {
      open: () => pending.filter(isOpen).map(({ message }) => message),
      take: (message, from) => {
        if (take(message, pending)) exchange.answeredBy = from
        else exchange.hasInvalidAnswer = true
        return !pending.some(isOpen)
      },
    })
    for (const one of pending.filter(({ isCut }) => isCut))
      await repeatOverTcp(phases, one, exchange.answeredBy!, guard)
  } catch (cause) {
    const failure = toEgressFailure(cause)
    error = toCheckError(isServerKnown ? toDnsFailure(failure, query, exchange.hasInvalidAnswer) : failure)
  }
  const totalUs = finishPhases(phases)
  const replies = pending.flatMap(({ question: { type }, reply }) => (reply ? [{ type, ...reply }] : []))
  const { answeredBy } = exchange
  const server = answeredBy ? serverText(answeredBy) : ''
  return { error, timings: phases.timings, totalUs, resolvedIp: answeredBy?.address ?? null, server, replies }
}

function createPendingQuestion(name: string, type: DnsType): PendingQuestion {
  const question = { id: randomInt(0x10000), name, type }
  return { question, message: encodeQuestion(question), reply: null, isCut: false }
}

const isOpen = ({ reply, isCut }: PendingQuestion) => reply === null && !isCut

/** Assigns a message to the question that it answers; false when there is none. */
function take(message: Buffer, pending: PendingQuestion[]): boolean {
  const id = readResponseId(message)
  for (const one of pending) {
    if (one.question.id !== id || !isOpen(one)) continue
    if (isTruncated(message)) one.isCut = true
    else one.reply = decodeReply(message, one.question)
    if (!isOpen(one)) return true
  }
  return false
}

async function repeatOverTcp(
  phases: PhaseTimer,
  pending: PendingQuestion,
  server: UdpServer,
  egress: Egress,
): Promise<void> {
  throwIfAborted(phases)
  pending.reply = decodeReply(await queryOverTcp(phases, server, pending.message, egress), pending.question)
  if (pending.reply === null) throw createInvalidAnswerFailure()
}

async function resolveServers(phases: PhaseTimer, { server }: DnsQuery, egress: Egress): Promise<UdpServer[]> {
  throwIfAborted(phases)
  if (server) {
    const found = egress.resolve(server.host, server.port)
    const addresses = Array.isArray(found) ? found : await waitWithDeadline(phases, found)
    return addresses.map(address => ({ address, port: server.port }))
  }
  const servers = egress.nameservers()
  if (servers.length === 0) throw createInternalFailure('no_resolver', 'no resolver is configured on the probe')
  return servers
}

/** A guard that allows the system's resolvers, which only the operator configures and which may be private. */
const createTrustingGuard = (egress: Egress): Egress => ({
  ...egress,
  resolve: address => [address],
  assertAllowed: () => undefined,
})

const createInvalidAnswerFailure = () =>
  createTargetFailure('dns_invalid_response', 'the server sent an invalid answer')

function toDnsFailure(failure: EgressFailure, { server, name }: DnsQuery, hasInvalidAnswer: boolean): EgressFailure {
  if (failure.source === FailureSource.INTERNAL) return failure
  const { code, message } =
    failure.code === 'timeout'
      ? hasInvalidAnswer
        ? createInvalidAnswerFailure()
        : createSilenceFailure(name)
      : failure
  return new EgressFailure(server ? FailureSource.TARGET : FailureSource.RESOLVER, code, message)
}

const createSilenceFailure = (name: string) =>
  createTargetFailure('dns_timeout', `the server did not answer for ${name}`)

function serverText({ address, port }: UdpServer): string {
  const host = isIPv6(address) ? `[${address}]` : address
  return port === 53 ? address : `${host}:${port}`
}
