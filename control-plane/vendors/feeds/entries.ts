import { plainText, type ReportedIncident, type VendorIncidentStatus } from './report.ts'
import { isMaintenance, saysItIsOver, severityOfTitle, statusOfValue } from './words.ts'

/** An entry of a feed of news. `content`: HTML. Times as they are written there. */
export type Entry = {
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
export const SILENT_FOR_MS = DAY_MS
/** One that says that it is not over, after so long without another word. */
const OPEN_FOR_MS = 7 * DAY_MS
const MOST_ENTRIES = 500

type Dated = { entry: Entry; title: string; status: VendorIncidentStatus | null; atMs: number | null }

/**
 * The incidents that a feed of news tells of. It is a log of words, not a statement of how things are: entries of one id
 * or title are words about one incident, the newest of which says how it stands; what was said before the last "resolved"
 * is another one. What is old, and what announces work, is none.
 */
export function incidentsOfEntries(entries: Entry[], now: Date): ReportedIncident[] {
  const told = entries
    .slice(0, MOST_ENTRIES)
    .map(entry => dated({ ...entry, title: plainText(entry.title, 300), content: entry.content.slice(0, 20_000) }))
  const groups = new Map<string, Dated[]>()
  const groupOfId = new Map<string, string>()
  for (const one of told) {
    const id = one.entry.id ?? one.title
    const key = groupOfId.get(id) ?? one.title.toLowerCase()
    groupOfId.set(id, key)
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  const incidents = [...groups.values()].flatMap(incidentsOf).filter(incident => isCurrent(incident, now))
  return incidents.map(({ isSilent, ...incident }) => incident)
}

function dated(entry: Entry): Dated {
  const atMs = Date.parse(entry.updatedAt ?? entry.publishedAt ?? '')
  return {
    entry,
    title: bareTitle(entry.title),
    status: statusOf(entry),
    atMs: Number.isNaN(atMs) ? null : atMs,
  }
}

type Told = ReportedIncident & { isSilent: boolean }

/** One after the other in time: after a word that ends an incident, the next one begins another. */
function incidentsOf(group: Dated[]): Told[] {
  const incidents: Told[] = []
  const inOrder = group.reverse().sort((a, b) => (a.atMs ?? Number.MAX_VALUE) - (b.atMs ?? Number.MAX_VALUE))
  for (const { entry, title, status, atMs } of inOrder) {
    if (isMaintenance(entry.title) || ANNOUNCED.test(entry.content)) continue
    const at = atMs === null ? null : new Date(atMs).toISOString()
    const before = incidents.at(-1)
    const isSame = before !== undefined && (before.status !== 'resolved' || before.id === entry.id)
    const incident: Told = {
      id: isSame ? before.id : (entry.id ?? `${title} ${at ?? ''}`),
      title,
      severity: severityOfTitle(entry.title),
      status: status ?? 'investigating',
      components: entry.categories,
      started_at: isSame ? before.started_at : startOf(entry, at),
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

const ANNOUNCED = /THIS IS A SCHEDULED EVENT|<(strong|b)>\s*(Scheduled|In progress|Verifying|Completed)\s*<\//i

function startOf({ publishedAt }: Entry, at: string | null): string | null {
  const ms = Date.parse(publishedAt ?? '')
  return Number.isNaN(ms) ? at : new Date(ms).toISOString()
}

function isCurrent({ updated_at, isSilent, status }: Told, now: Date): boolean {
  if (updated_at === null || status === 'resolved') return true
  const ageMs = now.getTime() - Date.parse(updated_at)
  return ageMs <= (isSilent ? SILENT_FOR_MS : OPEN_FOR_MS)
}

const MARK =
  /^\s*[[(]?(resolved|update|updated|investigating|identified|monitoring|mitigated|recovered)[\])]?\s*[:\-–—]?\s+|\s*[-–—[(]+\s*(resolved|investigating|identified|monitoring|mitigated|recovered)[\])]?\s*$/gi
const KIND =
  /^(service impact|service disruption|informational message|performance issues|service degradation|service is operating normally|increased error rates)\s*:\s*/i

/** What an incident is called, without how it stands: vendors put that in front of it or behind. */
function bareTitle(title: string): string {
  const bare = title.replace(KIND, '').replace(MARK, '').replace(MARK, '').trim()
  return bare === '' ? title : bare
}

/** The first that says so: the title, the newest word of an update in bold, a line "Status: …", prose. */
function statusOf({ title, content }: Entry): VendorIncidentStatus | null {
  if (OVER_IN_TITLE.test(title)) return 'resolved'
  const bold = /<(?:strong|b)>([^<>]{1,80})<\//i.exec(content)?.[1]
  const line = /\bstatus\s*:\s*(?:<[^<>]{0,100}>\s*)*([a-z][a-z ]{2,30})/i.exec(content)?.[1]
  const marked = (bold && statusOfValue(bold)) || (line && statusOfValue(line)) || null
  if (marked !== null) return marked
  return saysItIsOver(plainText(content, 20_000)) ? 'resolved' : statusOfMark(title)
}

const OVER_IN_TITLE =
  /operating normally|[[(]\s*(resolved|mitigated|recovered)\s*[\])]|^\s*resolved\b|[-–—:]\s*(resolved|mitigated|recovered)\s*$/i

/** "Investigating: …", "… - Monitoring" */
function statusOfMark(title: string): VendorIncidentStatus | null {
  const mark = /^\W*(investigating|identified|monitoring)\b|\b(investigating|identified|monitoring)\W*$/i.exec(title)
  return mark ? statusOfValue(mark[0]) : null
}
