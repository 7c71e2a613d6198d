import { MASK } from '../../../foundation/web/masked-secrets/header-map.ts'
import type { ErrorDetail } from '../../../foundation/web/server/errors.ts'

/** An address as a caller sees it who may not know where it leads: its origin, because the rest may be a secret. */
export function maskUrl(url: string): string {
  return URL.canParse(url) ? `${new URL(url).origin}/${MASK}` : MASK
}

/** An address that was sent back, with the stored one in place of its mask; `problems` where none is stored. */
export function unmaskUrl(sent: string, stored: string | null, name: string): { url: string; problems: ErrorDetail[] } {
  if (stored !== null && [MASK, maskUrl(stored)].includes(sent)) return { url: stored, problems: [] }
  if (sent !== MASK && !sent.endsWith(`/${MASK}`)) return { url: sent, problems: [] }
  const message = `no ${name} of this origin is stored that could be kept; send the whole ${name}`
  return { url: sent, problems: [{ path: `config.${name}`, message }] }
}

/** What is shorter is a word, not a secret. */
const MIN_SECRET_LENGTH = 8

/** The texts by which an answer could repeat what `maskUrl` hides, longest first. */
export function listHiddenParts(url: string): string[] {
  if (!URL.canParse(url)) return []
  const { pathname, search } = new URL(url)
  const words = pathname.split('/').filter(word => word.length >= MIN_SECRET_LENGTH)
  return sortLongestFirst([pathname + search, pathname, ...words, ...listQueryParts(url)])
}

/** Those of the query, where secrets are most often. */
export function listQueryParts(url: string): string[] {
  const { search, searchParams } = new URL(url)
  return sortLongestFirst([
    search.slice(1),
    ...[...searchParams.values()].filter(word => word.length >= MIN_SECRET_LENGTH),
  ])
}

const sortLongestFirst = (parts: string[]) =>
  [...new Set(parts)].filter(part => part.length > 1).sort((a, b) => b.length - a.length)
