import { encode, RECURSION_DESIRED } from 'dns-packet'
import type { DnsType } from '../../checks/dns-types.ts'
import { formatIpv6 } from '../../checks/ipv6-text.ts'
import type { DnsRecord } from '../../checks/result.ts'
import { hasControlCharacter } from '../../control-characters.ts'
import { createTargetFailure } from '../failure.ts'
import { createNameReader, skipName } from './dns-reader.ts'

export type DnsQuestion = { id: number; name: string; type: DnsType }

/** The reply of a server to one question. */
export type DnsMessageReply = {
  /** NOERROR, NXDOMAIN, SERVFAIL … */
  rcode: string
  /** of the answer section, including aliases */
  records: DnsRecord[]
}

const TRUNCATED_BIT = 0x02
const RESPONSE_BIT = 0x80
const HEADER_BYTES = 12
const QUESTION_COUNT_AT = 4
const ANSWER_COUNT_AT = 6
/** the type and the class after the name */
const QUESTION_FIELDS_BYTES = 4
/** the type, the class, the time to live and the length of the data after the name */
const RECORD_FIELDS_BYTES = 10
const MAX_ANSWERS = 500

const TYPE_CODES: Record<DnsType, number> = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  CAA: 257,
}
const TYPE_BY_CODE = new Map(Object.entries(TYPE_CODES).map(([type, code]) => [code, type as DnsType]))

export function encodeQuestion({ id, name, type }: DnsQuestion): Buffer {
  return encode({ type: 'query', id, flags: RECURSION_DESIRED, questions: [{ type, name }] })
}

/** The id of a response; null when the message is not a response. */
export function readResponseId(message: Buffer): number | null {
  const isResponse = message.length >= HEADER_BYTES && (message[2]! & RESPONSE_BIT) !== 0
  return isResponse ? message.readUInt16BE(0) : null
}

/** Whether a response is truncated, so that the question has to be repeated over TCP (RFC 7766). */
export const isTruncated = (message: Buffer) => (message[2]! & TRUNCATED_BIT) !== 0

/** Decodes a response. Null when it is damaged, has too many records, or answers another question. */
export function decodeReply(message: Buffer, asked: DnsQuestion): DnsMessageReply | null {
  try {
    const rcode = formatRcode(message)
    const end = matchQuestion(message, asked, rcode)
    return end === null ? null : { rcode, records: readAnswers(message, end) }
  } catch {
    return null
  }
}

/** The failure of a server that sends messages for which `decodeReply` returns null. */
export const createInvalidAnswerFailure = () =>
  createTargetFailure('dns_invalid_response', 'the server sent an invalid answer')

const RCODES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED']

function formatRcode(message: Buffer): string {
  const code = message[3]! & 0x0f
  return RCODES[code] ?? `RCODE${code}`
}

/**
 * The offset after the question, or null when the message answers another one. It is compared before records are read, so that
 * wrong messages cost little.
 */
function matchQuestion(message: Buffer, asked: DnsQuestion, rcode: string): number | null {
  if (message.readUInt16BE(0) !== asked.id) return null
  const questions = message.readUInt16BE(QUESTION_COUNT_AT)
  // A server that cannot parse the question may omit it.
  if (questions === 0) return rcode === 'NOERROR' ? null : HEADER_BYTES
  const { labels, end } = createNameReader(message)(HEADER_BYTES)
  const isSame = message.readUInt16BE(end) === TYPE_CODES[asked.type] && lower(joinLabels(labels)) === lower(asked.name)
  return questions === 1 && isSame ? end + QUESTION_FIELDS_BYTES : null
}

/** Reads the answer section, and checks that the other sections are complete. */
function readAnswers(message: Buffer, start: number): DnsRecord[] {
  const answers = message.readUInt16BE(ANSWER_COUNT_AT)
  if (answers > MAX_ANSWERS) throw new Error(`more than ${MAX_ANSWERS} answers`)
  const others = message.readUInt16BE(ANSWER_COUNT_AT + 2) + message.readUInt16BE(ANSWER_COUNT_AT + 4)
  const readName = createNameReader(message)
  const records: DnsRecord[] = []
  let at = start
  for (let i = 0; i < answers + others; i++) {
    const fields = skipName(message, at)
    const dataStart = fields + RECORD_FIELDS_BYTES
    const dataEnd = dataStart + message.readUInt16BE(dataStart - 2)
    if (dataEnd > message.length) throw new Error('a record is not complete')
    const type = i < answers ? TYPE_BY_CODE.get(message.readUInt16BE(fields)) : undefined
    if (type) {
      const name = nameText(joinLabels(readName(at).labels))
      const value = readValue(type, { message, start: dataStart, end: dataEnd, readName })
      records.push({ type, name, ttlS: message.readUInt32BE(fields + 4), value: visible(value) })
    }
    at = dataEnd
  }
  return records
}

type RecordData = { message: Buffer; start: number; end: number; readName: ReturnType<typeof createNameReader> }

/** As in a zone file, with IPv6 addresses as in RFC 5952, except that names have no final dot and texts are unquoted and concatenated. */
function readValue(type: DnsType, { message, start, end, readName }: RecordData): string {
  const data = message.subarray(start, end)
  const textOfName = (at: number) => nameText(joinLabels(readName(start + at).labels))
  switch (type) {
    case 'A':
      return Array.from({ length: 4 }, (_, i) => data.readUInt8(i)).join('.')
    case 'AAAA':
      return formatIpv6(Array.from({ length: 8 }, (_, i) => data.readUInt16BE(2 * i).toString(16)).join(':'))
    case 'CNAME':
    case 'NS':
      return textOfName(0)
    case 'MX':
      return `${data.readUInt16BE(0)} ${textOfName(2)}`
    case 'SRV':
      return `${data.readUInt16BE(0)} ${data.readUInt16BE(2)} ${data.readUInt16BE(4)} ${textOfName(6)}`
    case 'SOA': {
      const server = readName(start)
      const mailbox = readName(server.end)
      // a dot in the local part of an address is escaped
      const mail = joinLabels(mailbox.labels.map(label => label.replaceAll('.', '\\.')))
      const numbers = Array.from({ length: 5 }, (_, i) => message.readUInt32BE(mailbox.end + 4 * i))
      return [nameText(joinLabels(server.labels)), nameText(mail), ...numbers].join(' ')
    }
    case 'CAA': {
      const valueAt = 2 + data.readUInt8(1)
      return `${data.readUInt8(0)} ${data.toString('utf8', 2, valueAt)} "${data.toString('utf8', valueAt)}"`
    }
    case 'TXT':
      return readText(data)
  }
}

/** A character can be split at the border of two chunks, so the chunks are joined first. */
function readText(data: Buffer): string {
  const chunks: Buffer[] = []
  for (let at = 0; at < data.length; ) {
    const next = at + 1 + data[at]!
    if (next > data.length) throw new Error('a text is not complete')
    chunks.push(data.subarray(at + 1, next))
    at = next
  }
  return Buffer.concat(chunks).toString('utf8')
}

const joinLabels = (labels: string[]) => (labels.length === 0 ? '.' : labels.join('.'))
const lower = (name: string) => name.toLowerCase()

/** Lower case without the final dot; the root is a dot. */
const nameText = (name: string) => (name === '.' || name === '' ? '.' : lower(name).replace(/\.$/, ''))

/** Escapes control characters as in a zone file, because values are shown in logs and pages. */
function visible(text: string): string {
  return [...text]
    .map(char => (hasControlCharacter(char) ? `\\${String(char.charCodeAt(0)).padStart(3, '0')}` : char))
    .join('')
}
