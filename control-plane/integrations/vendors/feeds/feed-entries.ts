import { describesResolution, guessSeverity, isMaintenance, parseStatus } from './classification.ts'
import { type ReportedIncident, toPlainText, type VendorIncidentStatus } from './report.ts'

/** An entry of a feed of news. `content`: HTML. Times as they are written there. */
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
/** An entry that does not say how things stand is about something that is over, after so long. */
export const MAX_SILENT_ENTRY_AGE_MS = DAY_MS
/** One that says that it is not over, after so long without another word. */
const MAX_OPEN_ENTRY_AGE_MS = 7 * DAY_MS
const MAX_ENTRIES = 500

type DatedEntry = { entry: VendorFeedEntry; title: string; status: VendorIncidentStatus | null; atMs: number | null }

/**
 * The incidents that a feed of news tells of. It is a log of words, not a statement of how things are: entries of one id
 * or title are words about one incident, the newest of which says how it stands; what was said before the last "resolved"
 * is another one. What is old, and what announces work, is none.
 */
export function extractIncidents(entries: VendorFeedEntry[], now: Date): ReportedIncident[] {
  const told = entries
    .slice(0, MAX_ENTRIES)
    .map(entry =>
      parseEntry({ ...entry, title: toPlainText(entry.title, 300), content: entry.content.slice(0, 20_000) }),
    )
  const groups = new Map<string, DatedEntry[]>()
  const groupOfId = new Map<string, string>()
  for (const one of told) {
    const id = one.entry.id ?? one.title
    const key = groupOfId.get(id) ?? one.title.toLowerCase()
    groupOfId.set(id, key)
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  const incidents = [...groups.values()].flatMap(buildIncidents).filter(incident => isCurrent(incident, now))
  return incidents.map(({ isSilent, ...incident }) => incident)
}

function parseEntry(entry: VendorFeedEntry): DatedEntry {
  const atMs = Date.parse(entry.updatedAt ?? entry.publishedAt ?? '')
  return {
    entry,
    title: stripTitle(entry.title),
    status: detectStatus(entry),
    atMs: Number.isNaN(atMs) ? null : atMs,
  }
}

type EntryIncident = ReportedIncident & { isSilent: boolean }

/** One after the other in time: after a word that ends an incident, the next one begins another. */
function buildIncidents(group: DatedEntry[]): EntryIncident[] {
  const incidents: EntryIncident[] = []
  const inOrder = group.reverse().sort((a, b) => (a.atMs ?? Number.MAX_VALUE) - (b.atMs ?? Number.MAX_VALUE))
  for (const { entry, title, status, atMs } of inOrder) {
    if (isMaintenance(entry.title) || MAINTENANCE_NOTICE.test(entry.content)) continue
    const at = atMs === null ? null : new Date(atMs).toISOString()
    const before = incidents.at(-1)
    const isSame = before !== undefined && (before.status !== 'resolved' || before.id === entry.id)
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
    }
    if (isSame) incidents.pop()
    incidents.push(incident)
  }
  return incidents
}

const MAINTENANCE_NOTICE = /THIS IS A SCHEDULED EVENT|<(strong|b)>\s*(Scheduled|In progress|Verifying|Completed)\s*<\//i

function getStartTime({ publishedAt }: VendorFeedEntry, at: string | null): string | null {
  const ms = Date.parse(publishedAt ?? '')
  return Number.isNaN(ms) ? at : new Date(ms).toISOString()
}

function isCurrent({ updated_at, isSilent, status }: EntryIncident, now: Date): boolean {
  if (updated_at === null || status === 'resolved') return true
  const ageMs = now.getTime() - Date.parse(updated_at)
  return ageMs <= (isSilent ? MAX_SILENT_ENTRY_AGE_MS : MAX_OPEN_ENTRY_AGE_MS)
}

const MARK =
  /^\s*[[(]?(resolved|update|updated|investigating|identified|monitoring|mitigated|recovered)[\])]?\s*[:\-–—]?\s+|\s*[-–—[(]+\s*(resolved|investigating|identified|monitoring|mitigated|recovered)[\])]?\s*$/gi
const KIND =
  /^(service impact|service disruption|informational message|performance issues|service degradation|service is operating normally|increased error rates)\s*:\s*/i

/** What an incident is called, without how it stands: vendors put that in front of it or behind. */
function stripTitle(title: string): string {
  const bare = title.replace(KIND, '').replace(MARK, '').replace(MARK, '').trim()
  return bare === '' ? title : bare
}

/** The first that says so: the title, the newest word of an update in bold, a line "Status: …", prose. */
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

/** "Investigating: …", "… - Monitoring" */
function parseTitleStatus(title: string): VendorIncidentStatus | null {
  const mark = /^\W*(investigating|identified|monitoring)\b|\b(investigating|identified|monitoring)\W*$/i.exec(title)
  return mark ? parseStatus(mark[0]) : null
}
