import { toOneLine } from '../../../foundation/web/validation/visible-text.ts'
import type { Digest } from '../types.ts'
import type { NoticeContent, Tone } from './notice-content.ts'
import { pluralize, toWebLink, truncate } from './wording.ts'

/** One line of a digest: "Shop", "down", "10:04 UTC". Texts are plain and unescaped. */
export type ChangeLine = { tone: Tone; name: string; status: string; time: string; url: string | null }

/** The heading of a digest as a notice without facts: how many monitors changed, and to which statuses. */
export function toDigestNotice(digest: Digest): NoticeContent {
  const { changes } = digest
  const counts = STATUS_ORDER.map(status => ({
    status,
    count: changes.filter(change => change.status === status).length,
  }))
  const present = counts.filter(({ count }) => count > 0)
  return {
    tone: toTone(present[0]?.status ?? ''),
    badge: 'Many changes',
    title: toOneLine(`${changes.length} ${pluralize(changes.length, 'monitor')} of ${digest.projectName} changed`),
    text: `${present.map(({ status, count }) => `${count} ${status}`).join(', ')} between ${formatTime(digest.from).slice(0, 5)} and ${formatTime(digest.to)}.`,
    facts: [],
    open: toWebLink('Open in Picket', digest.dashboardUrl),
    acknowledge: null,
    topic: `digest:${digest.deliveryId}`,
    at: digest.to,
  }
}

/** Returns at most `limit` changes, the worst first. `more`: how many are left out. */
export function toChangeLines({ changes }: Digest, limit: number): { lines: ChangeLine[]; more: number } {
  const rank = (status: string) => (STATUS_ORDER.includes(status) ? STATUS_ORDER.indexOf(status) : STATUS_ORDER.length)
  const sorted = changes.toSorted((a, b) => rank(a.status) - rank(b.status))
  const lines = sorted.slice(0, limit).map(({ name, status, words, at, url }) => ({
    tone: toTone(status),
    name: truncate(toOneLine(name), MAX_NAME_LENGTH),
    status: toOneLine(words ?? status),
    time: formatTime(at),
    url: toWebLink('', url)?.url ?? null,
  }))
  return { lines, more: changes.length - lines.length }
}

/** More than the longest name of a monitor. */
const MAX_NAME_LENGTH = 120

const STATUS_ORDER = ['down', 'degraded', 'up', 'resolved']

const toTone = (status: string): Tone =>
  status === 'down' || status === 'degraded' || status === 'up' ? status : 'neutral'

const formatTime = (at: string) => `${new Date(at).toISOString().slice(11, 16)} UTC`
