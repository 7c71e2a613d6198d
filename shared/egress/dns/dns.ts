import { randomInt } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { DnsType } from '../../checks/dns-types.ts'
import { type CheckError, FailureSource, type Timings } from '../../checks/result.ts'
import type { DeadlineSignal } from '../deadline.ts'
import { createInternalFailure, createTargetFailure, EgressFailure, toCheckError, toEgressFailure } from '../failure.ts'
import { finishPhases, type PhaseTimer, startPhaseTimer, throwIfAborted, waitWithDeadline } from '../phases.ts'
import type { Egress } from '../types.ts'
import {
  createInvalidAnswerFailure,
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
  /** one type with a record is enough: the others may stay without an answer */
  isOneEnough?: boolean
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

type PendingQuestion = {
  question: DnsQuestion
  message: Buffer
  reply: DnsMessageReply | null
  isCut: boolean
  /** the server of the reply, or of the truncated one */
  answeredBy: UdpServer | null
  /** errors of the system's resolvers, used when none of them has a better reply */
  errors: Map<UdpServer, DnsMessageReply>
}

/** Replies of a server that cannot resolve the name, or does not do it for this client. Another server may be able to. */
const SERVER_ERRORS = ['SERVFAIL', 'REFUSED', 'NOTIMP']

/**
 * Queries a server, or the system's resolvers, for records of a name: over UDP, and over TCP after a truncated answer. Never
 * throws; `signal` is the deadline. When one of several resolvers of the system answers with an error, the others are asked. Failures of a server that the monitor names have the source `target`, those of the
 * system's resolvers `resolver`, also while they resolve the name of such a server.
 */
export async function queryDns(query: DnsQuery, signal: DeadlineSignal, egress: Egress): Promise<DnsQueryResult> {
  const phases = startPhaseTimer(signal, 'dnsUs')
  const pending = query.types.map(type => createPendingQuestion(query.name, type))
  let hasInvalidAnswer = false
  const wrongAnswers = new Map<UdpServer, number>()
  let error: CheckError | null = null
  let isServerKnown = query.server === null
  try {
    const guard = query.server ? egress : createTrustingGuard(egress)
    const servers = await resolveServers(phases, query, guard)
    isServerKnown = true
    await queryOverUdp(phases, servers, {
      open: () => pending.filter(isOpen).map(({ message }) => message),
      take: (message, from) => {
        const outcome = take(message, from, pending, query.server ? 1 : servers.length)
        if (outcome === 'invalid' || outcome === 'wrong') hasInvalidAnswer = true
        if (outcome === 'wrong' && countUp(wrongAnswers, from) >= MAX_WRONG_ANSWERS) return 'broken'
        if (outcome === 'error') return 'error'
        if (!pending.some(isOpen)) return 'complete'
        return query.isOneEnough && pending.some(hasOrMayHaveRecord) ? 'enough' : 'open'
      },
    })
    useRecordedErrors(pending)
    for (const one of pending.filter(({ isCut }) => isCut)) await repeatOverTcp(phases, one, guard)
    if (!isComplete(query, pending)) throw createSilenceFailure(query.name)
  } catch (cause) {
    const failure = toEgressFailure(cause)
    useRecordedErrors(pending)
    if (failure.source === FailureSource.INTERNAL || !isComplete(query, pending))
      error = toCheckError(isServerKnown ? toDnsFailure(failure, query, hasInvalidAnswer) : failure)
  }
  const totalUs = finishPhases(phases)
  const replies = pending.flatMap(({ question: { type }, reply }) => (reply ? [{ type, ...reply }] : []))
  const answeredBy = pending.findLast(one => one.answeredBy !== null)?.answeredBy ?? null
  const server = answeredBy ? serverText(answeredBy) : ''
  return { error, timings: phases.timings, totalUs, resolvedIp: answeredBy?.address ?? null, server, replies }
}

function createPendingQuestion(name: string, type: DnsType): PendingQuestion {
  const question = { id: randomInt(0x10000), name, type }
  return { question, message: encodeQuestion(question), reply: null, isCut: false, answeredBy: null, errors: new Map() }
}

const isOpen = ({ reply, isCut }: PendingQuestion) => reply === null && !isCut

function useRecordedErrors(pending: PendingQuestion[]): void {
  for (const one of pending.filter(isOpen)) useFirstError(one)
}

const hasRecord = ({ reply, question }: PendingQuestion) => reply?.records.some(({ type }) => type === question.type)
const hasOrMayHaveRecord = (one: PendingQuestion) => one.isCut || hasRecord(one)

const isComplete = ({ isOneEnough }: DnsQuery, pending: PendingQuestion[]) =>
  pending.every(({ reply }) => reply !== null) || (isOneEnough === true && pending.some(hasRecord))

/** A server that sends this many wrong answers to open questions is not asked again: it could send any number of them. */
const MAX_WRONG_ANSWERS = 3

function countUp(counts: Map<UdpServer, number>, server: UdpServer): number {
  const count = (counts.get(server) ?? 0) + 1
  counts.set(server, count)
  return count
}

/**
 * Assigns a message to the question that it answers; `invalid` when there is none, `wrong` when only its id is right. An error of one of `serverCount` servers is
 * only recorded, until all of them sent one, or this one sends it again because the others were silent.
 */
function take(
  message: Buffer,
  from: UdpServer,
  pending: PendingQuestion[],
  serverCount: number,
): 'reply' | 'error' | 'wrong' | 'invalid' {
  const id = readResponseId(message)
  let isWrong = false
  for (const one of pending) {
    if (one.question.id !== id || !isOpen(one)) continue
    const reply = isTruncated(message) ? null : decodeReply(message, one.question)
    if (reply === null && !isTruncated(message)) {
      isWrong = true
      continue
    }
    if (reply !== null && SERVER_ERRORS.includes(reply.rcode)) {
      const isRepeated = one.errors.has(from)
      if (!isRepeated) one.errors.set(from, reply)
      if (!isRepeated && one.errors.size < serverCount) return 'error'
      useFirstError(one)
      return 'reply'
    }
    one.reply = reply
    one.isCut = reply === null
    one.answeredBy = from
    return 'reply'
  }
  return isWrong ? 'wrong' : 'invalid'
}

function useFirstError(pending: PendingQuestion): void {
  const [first] = pending.errors
  if (first) [pending.answeredBy, pending.reply] = first
}

async function repeatOverTcp(phases: PhaseTimer, pending: PendingQuestion, egress: Egress): Promise<void> {
  throwIfAborted(phases)
  const answer = await queryOverTcp(phases, pending.answeredBy!, pending.message, egress)
  pending.reply = decodeReply(answer, pending.question)
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
