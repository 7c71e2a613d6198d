import { parseRegistryDate } from './dates.ts'

/** How registries call the end of a registration, in front of a colon, dots or blanks. */
const NAMES = [
  'registry expiry date',
  'registrar registration expiration date',
  'registry expiration date',
  'domain expiration date',
  'expiration date',
  'expiration time',
  'expiry date',
  'expire date',
  'expires on',
  'expires at',
  'expires',
  'expire',
  'exp date',
  'expiry',
  'expired',
  'paid-till',
  'paid till',
  'valid until',
  'validity',
  'valid-date',
  'renewal date',
  'record expires on',
  'domain expires',
  'domain_datebilleduntil',
]

const LINE = new RegExp(String.raw`^[\s*%]*(?:${NAMES.join('|')})(?:\s*\.*\s*:|\s{2,}|\s(?=\d))\s*(.+)$`, 'i')
/** `[有効期限] 2027/10/31` of .jp */
const BRACKETED = /^\s*\[(?:有効期限|Expires on)\]\s*(.+)$/i

/** Lines are short; what is longer is no line of a registry and costs no time. */
const MAX_LINE_LENGTH = 300

/** The end of the registration that a WHOIS answer tells. Null when it tells none that can be read. */
export function parseWhoisExpiry(text: string): Date | null {
  for (const line of splitLines(text)) {
    const value = (LINE.exec(line) ?? BRACKETED.exec(line))?.[1]
    const date = value === undefined ? null : parseRegistryDate(value.trim())
    if (date) return date
  }
  return null
}

const REFERRAL =
  /^\s*(?:refer|whois|whois server|registrar whois server):\s*(?:r?whois:\/\/)?([a-z0-9][a-z0-9.-]{0,252})(?::(\d{1,5}))?\/?\s*$/i

/** The server that an answer without a date sends one on to. */
export function parseReferral(text: string): WhoisServer | null {
  for (const line of splitLines(text)) {
    const [, host, port] = REFERRAL.exec(line) ?? []
    if (host) return { host: host.toLowerCase(), port: port ? Number(port) : WHOIS_PORT }
  }
  return null
}

export type WhoisServer = { host: string; port: number }

const WHOIS_PORT = 43

/** Reads `host` or `host:port`. Null when it is neither. */
export function parseWhoisServer(text: string): WhoisServer | null {
  const [, host, port] = /^([a-z0-9][a-z0-9.-]{0,252})(?::(\d{1,5}))?$/i.exec(text) ?? []
  if (!host) return null
  const number = port ? Number(port) : WHOIS_PORT
  return number >= 1 && number <= 65_535 ? { host, port: number } : null
}

function splitLines(text: string): string[] {
  return text.split(/\r?\n/).filter(line => line.length <= MAX_LINE_LENGTH)
}
