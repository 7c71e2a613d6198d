import { type Answer, decode, encode, RECURSION_DESIRED } from 'dns-packet'
import { type DnsType, parseDnsType } from '../../checks/dns-types.ts'
import { formatIpv6 } from '../../checks/ipv6-text.ts'
import type { DnsRecord } from '../../checks/result.ts'
import { hasControlCharacter } from '../../control-characters.ts'

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

/** Decodes a response. Null when it is damaged or answers another question. */
export function decodeReply(message: Buffer, asked: DnsQuestion): DnsMessageReply | null {
  try {
    const { id, questions = [], answers = [] } = decode(message)
    const rcode = formatRcode(message)
    const [question] = questions
    const isOurs = id === asked.id && question?.type === asked.type && lower(question.name) === lower(asked.name)
    // A server that cannot parse the question may omit it.
    if (!isOurs && !(id === asked.id && questions.length === 0 && rcode !== 'NOERROR')) return null
    return { rcode, records: answers.flatMap(toRecords) }
  } catch {
    return null
  }
}

const RCODES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED']

function formatRcode(message: Buffer): string {
  const code = message[3]! & 0x0f
  return RCODES[code] ?? `RCODE${code}`
}

function toRecords(answer: Answer): DnsRecord[] {
  const type = parseDnsType(answer.type)
  if (type === null || answer.type === 'OPT') return []
  const ttlS = ('ttl' in answer && answer.ttl) || 0
  return [{ type, name: nameText(answer.name), ttlS, value: visible(formatValue(answer)) }]
}

/** As in a zone file, with IPv6 addresses as in RFC 5952, except that names have no final dot and texts are unquoted and concatenated. */
function formatValue(answer: Answer): string {
  switch (answer.type) {
    case 'A':
      return answer.data
    case 'AAAA':
      return formatIpv6(answer.data)
    case 'CNAME':
    case 'NS':
      return nameText(answer.data)
    case 'MX':
      return `${answer.data.preference ?? 0} ${nameText(answer.data.exchange)}`
    case 'SRV':
      return `${answer.data.priority ?? 0} ${answer.data.weight ?? 0} ${answer.data.port} ${nameText(answer.data.target)}`
    case 'SOA': {
      const { mname, rname, serial = 0, refresh = 0, retry = 0, expire = 0, minimum = 0 } = answer.data
      return [nameText(mname), nameText(rname), serial, refresh, retry, expire, minimum].join(' ')
    }
    case 'CAA':
      return `${answer.data.flags ?? 0} ${answer.data.tag} "${answer.data.value}"`
    case 'TXT':
      // a character can be split at the border of two chunks
      return Buffer.concat([answer.data].flat().map(chunk => Buffer.from(chunk))).toString('utf8')
    default:
      return ''
  }
}

const lower = (name: string) => name.toLowerCase()

/** Lower case without the final dot; the root is a dot. */
const nameText = (name: string) => (name === '.' || name === '' ? '.' : lower(name).replace(/\.$/, ''))

/** Escapes control characters as in a zone file, because values are shown in logs and pages. */
function visible(text: string): string {
  return [...text]
    .map(char => (hasControlCharacter(char) ? `\\${String(char.charCodeAt(0)).padStart(3, '0')}` : char))
    .join('')
}
