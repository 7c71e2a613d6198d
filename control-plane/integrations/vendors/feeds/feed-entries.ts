import { describesResolution, guessSeverity, isMaintenance, parseStatus } from './classification.ts'
import { type ReportedIncident, toPlainText, type VendorIncidentStatus } from './report.ts'

/** An entry of RSS or Atom. `content` is HTML. Times are not parsed. */
export type VendorFeedEntry = {
  id: string | null
  title: string
  content: string
  url: string | null
  publishedAt: string | null
  updatedAt: string | null
  categories: string[]
}

const DAY_MS = 86_400_000
/** An entry without a status counts as resolved at this age. */
export const MAX_SILENT_ENTRY_AGE_MS = DAY_MS
/** An entry with an open status counts as resolved at this age. */
const MAX_OPEN_ENTRY_AGE_MS = 7 * DAY_MS
const MAX_ENTRIES = 500

type DatedEntry = { entry: VendorFeedEntry; title: string; status: VendorIncidentStatus | null; atMs: number | null }

/**
 * Extracts incidents from the entries of RSS or Atom, which are a log of messages. Entries with the same id or title
 * belong to one incident, and the newest gives its status. After an entry that resolves it, or that has ended by its age,
 * the next one is a new incident, unless its id is one of that incident's. Old entries and announced maintenance are left out.
 */
export function extractIncidents(entries: VendorFeedEntry[], now: Date): ReportedIncident[] {
  const parsed = entries
    .slice(0, MAX_ENTRIES)
    .map(entry =>
      parseEntry({ ...entry, title: toPlainText(entry.title, 300), content: entry.content.slice(0, 20_000) }),
    )
  const groups = new Map<string, DatedEntry[]>()
  const groupOfId = new Map<string, string>()
  for (const dated of parsed) {
    const id = dated.entry.id ?? dated.title
    const key = groupOfId.get(id) ?? dated.title.toLowerCase()
    groupOfId.set(id, key)
    groups.set(key, [...(groups.get(key) ?? []), dated])
  }
  const incidents = [...groups.values()]
    .flatMap(group => buildIncidents(group, now.getTime()))
    .filter(incident => isCurrent(incident, now.getTime()))
  return incidents.map(({ isSilent, entryIds, ...incident }) => incident)
}

function parseEntry(entry: VendorFeedEntry): DatedEntry {
  const atMs = parseEntryTime(entry.updatedAt ?? entry.publishedAt)
  return {
    entry,
    title: stripTitle(entry.title),
    status: detectStatus(entry),
    atMs: Number.isNaN(atMs) ? null : atMs,
  }
}

/** Offsets of zones that JavaScript does not parse, in hours. Names with several meanings, such as IST, are left out. */
const ZONE_OFFSETS: Record<string, string> = {
  ...{ WET: '+0000', WEST: '+0100', BST: '+0100', CET: '+0100', CEST: '+0200', EET: '+0200', EEST: '+0300' },
  ...{ MSK: '+0300', SGT: '+0800', HKT: '+0800', AWST: '+0800', JST: '+0900', KST: '+0900', ACST: '+0930' },
  ...{ AEST: '+1000', ACDT: '+1030', AEDT: '+1100', NZST: '+1200', NZDT: '+1300', AKST: '-0900', AKDT: '-0800' },
  ...{ HST: '-1000', BRT: '-0300' },
}

/** Parses a time of RFC 822 or ISO 8601, also with the name of a zone that is not in RFC 822. NaN: missing or not readable. */
function parseEntryTime(text: string | null): number {
  const time = (text ?? '').trim().slice(0, 100)
  return Date.parse(time.replace(/\b[A-Z]{3,4}$/, zone => ZONE_OFFSETS[zone] ?? zone))
}

/** `entryIds`: of all its entries that have one. */
type EntryIncident = ReportedIncident & { isSilent: boolean; entryIds: string[] }

/** Builds incidents from entries in the order of time. */
function buildIncidents(group: DatedEntry[], nowMs: number): EntryIncident[] {
  const incidents: EntryIncident[] = []
  const inOrder = group.reverse().sort((a, b) => (a.atMs ?? Number.MAX_VALUE) - (b.atMs ?? Number.MAX_VALUE))
  for (const { entry, title, status, atMs } of inOrder) {
    if (isMaintenance(entry.title) || MAINTENANCE_NOTICE.test(entry.content)) continue
    const at = atMs === null ? null : new Date(atMs).toISOString()
    const before = incidents.at(-1)
    const isKnownId = entry.id !== null && before?.entryIds.includes(entry.id)
    const isSame =
      before !== undefined && (isKnownId || !isOverAt(before, atMs === null ? null : Math.min(atMs, nowMs)))
    const incident: EntryIncident = {
      id: isSame ? before.id : (entry.id ?? `${title} ${at ?? ''}`),
      title,
      severity: guessSeverity(entry.title),
      status: status ?? 'investigating',
      components: entry.categories,
      started_at: isSame ? before.started_at : getStartTime(entry, at),
      resolved_at: status === 'resolved' ? at : null,
      updated_at: at,
      source_url: entry.url,
      isSilent: status === null,
      entryIds: [...(isSame ? before.entryIds : []), ...(entry.id === null ? [] : [entry.id])],
    }
    if (isSame) incidents.pop()
    incidents.push(incident)
  }
  return incidents
}

const MAINTENANCE_NOTICE = /THIS IS A SCHEDULED EVENT|<(strong|b)>\s*(Scheduled|In progress|Verifying|Completed)\s*<\//i

function getStartTime({ publishedAt }: VendorFeedEntry, at: string | null): string | null {
  const ms = parseEntryTime(publishedAt)
  return Number.isNaN(ms) ? at : new Date(ms).toISOString()
}

/** Whether an incident is resolved or has ended by its age at the time of a later entry; null: it has none. */
const isOverAt = (incident: EntryIncident, atMs: number | null): boolean =>
  incident.status === 'resolved' || (atMs !== null && !isCurrent(incident, atMs))

/** Whether an incident is to be reported at a time: it is resolved, or its newest entry is recent or has no time. */
function isCurrent({ updated_at, isSilent, status }: EntryIncident, nowMs: number): boolean {
  if (updated_at === null || status === 'resolved') return true
  return nowMs - Date.parse(updated_at) <= (isSilent ? MAX_SILENT_ENTRY_AGE_MS : MAX_OPEN_ENTRY_AGE_MS)
}

const MARK =
  /^\s*[[(]?(resolved|update|updated|investigating|identified|monitoring|mitigated|recovered)[\])]?\s*[:\-–—]?\s+|\s*[-–—[(]+\s*(resolved|investigating|identified|monitoring|mitigated|recovered)[\])]?\s*$/gi
const KIND =
  /^(service impact|service disruption|informational message|performance issues|service degradation|service is operating normally|increased error rates)\s*:\s*/i

/** Removes the status from a title. Vendors put it at the beginning or the end. */
function stripTitle(title: string): string {
  const bare = title.replace(KIND, '').replace(MARK, '').replace(MARK, '').trim()
  return bare === '' ? title : bare
}

/** Detects the status from the first of: the title, the newest bold text, a line "Status: …", the text. */
function detectStatus({ title, content }: VendorFeedEntry): VendorIncidentStatus | null {
  if (OVER_IN_TITLE.test(title)) return 'resolved'
  const bold = /<(?:strong|b)>([^<>]{1,80})<\//i.exec(content)?.[1]
  const line = /\bstatus\s*:\s*(?:<[^<>]{0,100}>\s*)*([a-z][a-z ]{2,30})/i.exec(content)?.[1]
  const marked = (bold && parseStatus(bold)) || (line && parseStatus(line)) || null
  if (marked !== null) return marked
  return describesResolution(toPlainText(content, 20_000)) ? 'resolved' : parseTitleStatus(title)
}

const OVER_IN_TITLE =
  /operating normally|[[(]\s*(resolved|mitigated|recovered)\s*[\])]|^\s*resolved\b|[-–—:]\s*(resolved|mitigated|recovered)\s*$/i

/** Parses titles such as "Investigating: …" and "… - Monitoring". */
function parseTitleStatus(title: string): VendorIncidentStatus | null {
  const mark = /^\W*(investigating|identified|monitoring)\b|\b(investigating|identified|monitoring)\W*$/i.exec(title)
  return mark ? parseStatus(mark[0]) : null
}
