import { MASK } from '../../../foundation/web/masked-secrets/header-map.ts'
import type { ErrorDetail } from '../../../foundation/web/server/errors.ts'

/** Masks an address: only the origin is shown, because the rest may be a secret. */
export function maskUrl(url: string): string {
  return URL.canParse(url) ? `${new URL(url).origin}/${MASK}` : MASK
}

/** Replaces a masked address that was sent back by the stored one. Returns `problems` if none is stored. */
export function unmaskUrl(sent: string, stored: string | null, name: string): { url: string; problems: ErrorDetail[] } {
  if (stored !== null && [MASK, maskUrl(stored)].includes(sent)) return { url: stored, problems: [] }
  if (sent !== MASK && !sent.endsWith(`/${MASK}`)) return { url: sent, problems: [] }
  const message = `no ${name} with this origin is stored; send the full ${name}`
  return { url: sent, problems: [{ path: `config.${name}`, message }] }
}

/** Shorter parts are words, not secrets. */
const MIN_SECRET_LENGTH = 8

/** The texts that a receiver's answer could repeat and that `maskUrl` hides, longest first. */
export function listHiddenParts(url: string): string[] {
  if (!URL.canParse(url)) return []
  const { pathname, search } = new URL(url)
  const words = pathname.split('/').filter(word => word.length >= MIN_SECRET_LENGTH)
  return sortLongestFirst([pathname + search, pathname, ...words, ...listQueryParts(url)])
}

/** The hidden texts of the query, which often contain secrets. */
export function listQueryParts(url: string): string[] {
  const { search, searchParams } = new URL(url)
  return sortLongestFirst([
    search.slice(1),
    ...[...searchParams.values()].filter(word => word.length >= MIN_SECRET_LENGTH),
  ])
}

const sortLongestFirst = (parts: string[]) =>
  [...new Set(parts)].filter(part => part.length > 1).sort((a, b) => b.length - a.length)
