import { formatDuration } from '../../../core/format.ts'
import type { OperationResponse } from '../../../core/operations.ts'

export type Timeline = OperationResponse<'readIncidentTimeline'>['data']
type Item = Timeline['items'][number]
export type TimelineEntry<Kind extends Item['kind']> = Extract<Item, { kind: Kind }>
type Check = TimelineEntry<'check'>

/** What is written in one transaction has times this close to each other. */
const SAME_MOMENT_MS = 1_000

/** Checks that follow each other without anything between them, by region. */
export type CheckGroup = { kind: 'checks'; at: string; until: string; regions: { region: string; checks: Check[] }[] }

/** What one row of the axis shows. */
export type TimelineRow = Exclude<Item, Check> | CheckGroup

/** The rows of the axis, oldest first. The end of the incident is one row with the update that ended it. */
export function buildAxisRows({ items }: Pick<Timeline, 'items'>): TimelineRow[] {
  const rows: TimelineRow[] = []
  for (const item of items) {
    if (item.kind === 'incident_resolved' && items.some(other => isResolvingUpdate(other, item.at))) continue
    const last = rows.at(-1)
    if (item.kind !== 'check') rows.push(item)
    else if (last?.kind === 'checks') addCheck(last, item)
    else rows.push(addCheck({ kind: 'checks', at: item.at, until: item.at, regions: [] }, item))
  }
  return rows
}

/** Whether an item is the update that ended the incident at a time. */
const isResolvingUpdate = (item: Item, at: string): boolean =>
  item.kind === 'incident_updated' &&
  item.status === 'resolved' &&
  Math.abs(Date.parse(item.at) - Date.parse(at)) < SAME_MOMENT_MS

/** The transition that opened the incident: the last one to `down` until its start. */
export const findOpening = (
  { items }: Pick<Timeline, 'items'>,
  startedAt: string,
): TimelineEntry<'transition'> | null =>
  items.findLast(
    (item): item is TimelineEntry<'transition'> =>
      item.kind === 'transition' && item.to === 'down' && Date.parse(item.at) < Date.parse(startedAt) + SAME_MOMENT_MS,
  ) ?? null

function addCheck(group: CheckGroup, check: Check): CheckGroup {
  const region = group.regions.find(one => one.region === check.region)
  if (region) region.checks.push(check)
  else group.regions.push({ region: check.region, checks: [check] })
  group.until = check.at
  return group
}

/** The messages of failed checks, most frequent first. */
export function listErrors(checks: readonly Check[]): string[] {
  const counts = new Map<string, number>()
  for (const { check } of checks) {
    const message = check.error?.message
    if (message) counts.set(message, (counts.get(message) ?? 0) + 1)
  }
  return [...counts].sort(([, a], [, b]) => b - a).map(([message]) => message)
}

/** The time from the start of the incident: `+35.2 s`, `+4 min 10 s`, `−1.0 s`. Empty at the start itself. */
export function formatOffset(ms: number): string {
  const size = Math.abs(ms)
  if (size < 50) return ''
  return `${ms < 0 ? '−' : '+'}${size < 60_000 ? `${(size / 1_000).toFixed(1)} s` : formatDuration(size)}`
}
