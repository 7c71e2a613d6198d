import { oneLine } from '../web/visible.ts'
import type { Notice, Tone } from './notice.ts'
import type { Digest } from './types.ts'
import { cut, webLink } from './wording.ts'

/** One change as a line: "Shop", "down", "10:04 UTC". Texts are plain and unescaped. */
export type ChangeLine = { tone: Tone; name: string; status: string; time: string; url: string | null }

/** The head of a digest, in the form of a notice without facts: how many changed, and to what. */
export function digestNotice(digest: Digest): Notice {
  const { changes } = digest
  const counts = ORDER.map(status => ({ status, count: changes.filter(change => change.status === status).length }))
  const present = counts.filter(({ count }) => count > 0)
  return {
    tone: toneOf(present[0]?.status ?? ''),
    badge: 'Many changes',
    title: oneLine(`${changes.length} monitors of ${digest.projectName} changed`),
    text: `${present.map(({ status, count }) => `${count} ${status}`).join(', ')} between ${timeOf(digest.from).slice(0, 5)} and ${timeOf(digest.to)}.`,
    facts: [],
    open: webLink('Open in Picket', digest.dashboardUrl),
    acknowledge: null,
    topic: `digest:${digest.deliveryId}`,
    at: digest.to,
  }
}

/** The worst first, at most `most`; `more` is how many are left out. */
export function changeLines({ changes }: Digest, most: number): { lines: ChangeLine[]; more: number } {
  const rank = (status: string) => (ORDER.includes(status) ? ORDER.indexOf(status) : ORDER.length)
  const sorted = changes.toSorted((a, b) => rank(a.status) - rank(b.status))
  const lines = sorted.slice(0, most).map(({ name, status, words, at, url }) => ({
    tone: toneOf(status),
    name: cut(oneLine(name), NAME_LIMIT),
    status: oneLine(words ?? status),
    time: timeOf(at),
    url: webLink('', url)?.url ?? null,
  }))
  return { lines, more: changes.length - lines.length }
}

/** Longer than any monitor's name. */
const NAME_LIMIT = 120

const ORDER = ['down', 'degraded', 'up', 'resolved']

const toneOf = (status: string): Tone =>
  status === 'down' || status === 'degraded' || status === 'up' ? status : 'neutral'

const timeOf = (at: string) => `${new Date(at).toISOString().slice(11, 16)} UTC`
