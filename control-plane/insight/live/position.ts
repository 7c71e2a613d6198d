import { REGIONS } from '../../../shared/checks/check.ts'

/**
 * A position in the log of changes: a snapshot of PostgreSQL (`xmin:xmax:xip,…`) and its time. A client that has a position
 * has seen the changes that this snapshot sees.
 */
export type LogPosition = { snapshot: string; atMs: number }
/** What a client has seen: besides the changes, the regions without a probe, which are not in the log. */
export type ClientPosition = LogPosition & { regions: string }

/** Rows of the log are kept for twice this time, so a position of this age misses nothing. */
export const MAX_POSITION_AGE_MS = 30 * 60_000
/** A position with more open transactions is written as an earlier one, after which some changes are read again. */
const MAX_OPEN = 60
export const MAX_POSITION_LENGTH = 1_000

/**
 * The position as clients of a project keep it: opaque, without characters that a URL or a header escapes. It ends
 * with the end of the project's id, because changes of another project would be missing after it, and the regions.
 */
export function formatPosition({ snapshot, atMs, regions }: ClientPosition, projectId: string): string {
  const [xmin = 0, xmax = 0, ...open] = snapshot.split(/[:,]/).filter(Boolean).map(Number)
  const isLong = open.length > MAX_OPEN
  const offsets = isLong ? [] : open.map(xid => (xid - xmin).toString(36))
  const seconds = Math.floor(atMs / 1_000).toString(36)
  const length = (isLong ? 0 : xmax - xmin).toString(36)
  return `${seconds}.${xmin.toString(36)}.${length}.${offsets.join('-')}.${getTag(projectId)}.${regions}`
}

const getTag = (projectId: string) => projectId.slice(-8)

/** The `regions` of a position whose client knows these regions without a probe. */
export const formatRegions = (regionsWithoutProbe: readonly string[]): string =>
  REGIONS.reduce((sum, region, i) => sum + (regionsWithoutProbe.includes(region) ? 2 ** i : 0), 0).toString(36)

/** The position of a client of the project; null for any other text. Its `regions` are empty when an older program wrote it. */
export function parsePosition(text: string, projectId: string): ClientPosition | null {
  const parts =
    text.length > MAX_POSITION_LENGTH
      ? null
      : /^(\w{1,9})\.(\w{1,10})\.(\w{1,10})\.([0-9a-z-]*)\.(\w{8})(?:\.(\w{1,11}))?$/.exec(text)
  if (!parts || parts[5] !== getTag(projectId)) return null
  const [seconds = NaN, xmin = NaN, length = NaN] = parts.slice(1, 4).map(parseBase36)
  const offsets = parts[4] ? parts[4].split('-').map(parseBase36) : []
  const isOrdered = offsets.every((offset, i) => offset < length && offset >= (offsets[i - 1] ?? 0))
  if (![seconds, xmin, length].every(Number.isSafeInteger) || xmin < 1 || !isOrdered) return null
  const open = offsets.map(offset => xmin + offset).join(',')
  return { snapshot: `${xmin}:${xmin + length}:${open}`, atMs: seconds * 1_000, regions: parts[6] ?? '' }
}

const parseBase36 = (text: string): number => (/^[0-9a-z]+$/.test(text) ? Number.parseInt(text, 36) : Number.NaN)

const getEnd = (snapshot: string): number => Number(snapshot.split(':')[1])

/**
 * Whether all changes since `position` are still in the log. False as well after an older copy of the database was restored.
 * A position can be ahead of the clock when the clock of PostgreSQL was set back; it then stays valid for longer, but never
 * longer than the log keeps rows.
 */
export function isContinuable(position: LogPosition, current: LogPosition): boolean {
  const ageMs = current.atMs - position.atMs
  return Math.abs(ageMs) < MAX_POSITION_AGE_MS && getEnd(position.snapshot) <= getEnd(current.snapshot)
}
