import type { HtmlParser } from './html-parser.ts'
import type { ReceivedMail } from './smtp.ts'

/** The tags, attributes and headers of emails with harmless text. */
type AllowedContent = { headers: Set<string>; elements: Set<string> }

export async function readAllowedContent(mails: ReceivedMail[], parser: HtmlParser): Promise<AllowedContent> {
  const known = { headers: new Set<string>(), elements: new Set<string>() }
  for (const { headers, html } of mails) {
    for (const name of Object.keys(headers)) known.headers.add(name)
    for (const one of (await parser.parse(html ?? '')).elements) known.elements.add(one)
  }
  return known
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the expression looks for control characters
const INVISIBLE = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/

/** Returns what an email contains that emails with harmless text do not, or that no email may contain. */
export async function findMailProblems(
  { headers, html, text, raw, to }: ReceivedMail,
  known: AllowedContent,
  parser: HtmlParser,
  origin: string,
): Promise<string[]> {
  const complaints: string[] = []
  const [head = ''] = raw.split('\r\n\r\n')
  const names = head.split('\r\n').flatMap(line => /^([^\s:]+):/.exec(line)?.[1]?.toLowerCase() ?? [])
  const foreign = [...Object.keys(headers), ...names].filter(name => !known.headers.has(name))
  if (foreign.length > 0) complaints.push(`headers: ${foreign}`)
  if (new Set(names).size !== names.length) complaints.push(`a header twice: ${names}`)
  if (to.length !== 1) complaints.push(`goes to ${to}`)
  if (/[\n]/.test(headers.subject!) || INVISIBLE.test(headers.subject!)) {
    complaints.push(`subject ${JSON.stringify(headers.subject)}`)
  }
  if (INVISIBLE.test((text ?? '').replaceAll('\r\n', '\n'))) complaints.push(`text ${JSON.stringify(text)}`)
  const parsed = await parser.parse(html ?? '')
  const elements = parsed.elements.filter(one => !known.elements.has(one))
  if (elements.length > 0) complaints.push(`elements: ${elements}`)
  const links = parsed.links.filter(link => !URL.canParse(link) || new URL(link).origin !== origin)
  if (links.length > 0) complaints.push(`links: ${links}`)
  // a browser reads a carriage return as a line feed
  if (INVISIBLE.test(parsed.text)) complaints.push('HTML holds characters that are not to be seen')
  return complaints
}
