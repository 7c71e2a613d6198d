import { parseRegistryDate } from './dates.ts'

/** Names of the end of a registration, followed by a colon, dots or blanks. */
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

/** Longer lines are skipped, so that they cost no time. */
const MAX_LINE_LENGTH = 300

/** The end of the registration in a WHOIS response. Null if it has no readable date. */
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

/** The server to which a response refers. */
export function parseReferral(text: string): WhoisServer | null {
  for (const line of splitLines(text)) {
    const [, host, port] = REFERRAL.exec(line) ?? []
    if (host) return { host: host.toLowerCase(), port: port ? Number(port) : WHOIS_PORT }
  }
  return null
}

export type WhoisServer = { host: string; port: number }

const WHOIS_PORT = 43

/** Parses `host` or `host:port`. Null for anything else. */
export function parseWhoisServer(text: string): WhoisServer | null {
  const [, host, port] = /^([a-z0-9][a-z0-9.-]{0,252})(?::(\d{1,5}))?$/i.exec(text) ?? []
  if (!host) return null
  const number = port ? Number(port) : WHOIS_PORT
  return number >= 1 && number <= 65_535 ? { host, port: number } : null
}

function splitLines(text: string): string[] {
  return text.split(/\r?\n/).filter(line => line.length <= MAX_LINE_LENGTH)
}
