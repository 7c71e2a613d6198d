import type { Address } from 'postal-mime'

/** A parsed mail. */
export type ReadMail = {
  /** by lower-case name, unfolded, the first of each name; `subject`, `from` and `to` are decoded */
  headers: Record<string, string>
  text: string | null
  html: string | null
}

export async function readMail(bytes: Buffer): Promise<ReadMail> {
  const { default: PostalMime } = await import('postal-mime')
  const mail = await PostalMime.parse(bytes)
  const first = mail.headers.toReversed().map(({ key, value }) => [key, value])
  const { subject = '', from, to = [] } = mail
  const decoded = { subject, from: from ? shown(from) : '', to: to.map(shown).join(', ') }
  return { headers: { ...Object.fromEntries(first), ...decoded }, text: mail.text ?? null, html: mail.html ?? null }
}

const shown = ({ name, address }: Address): string => (name && address ? `${name} <${address}>` : (address ?? name))
