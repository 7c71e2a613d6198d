import { type FeedReport, isOpen, type ReportedIncident, type VendorSeverity } from '../feeds/report.ts'
import type { Dependency, ImpactLevel, VendorIncident } from '../types.ts'
import { createComponentMatcher, selectRelevantIncidents } from './affected-components.ts'
import { matchIncidents } from './incident-matching.ts'

/** A change of a vendor's incident that is announced. */
export type VendorChange = { name: 'vendor.down' | 'vendor.degraded' | 'vendor.resolved'; incident: VendorIncident }

type ReportEffects = {
  /** new and changed incidents */
  incidents: VendorIncident[]
  changes: VendorChange[]
  /** false: an incident is missing from the feed and not closed yet, or waits to be announced */
  isSettled: boolean
}

type ReportContext = {
  /** consecutive reads without an incident before it is closed */
  missingReadsBeforeClose: number
  /** beginnings of incidents that may still be announced in this hour */
  budget: number
  now: Date
  newId: () => string
}

/** Maximum number of beginnings of incidents that are announced for a dependency in an hour. */
export const MAX_NOTIFICATIONS_PER_HOUR = 10

/**
 * Computes what a report changes for a dependency (docs/design/vendors.md#notifications). An incident is announced once
 * when it begins, once more when it goes from degraded to down, and once when it ends, if it was announced before.
 * Incidents that existed before the dependency are announced only when they get worse. Without a budget the announcement
 * of a beginning waits; an incident that ends before it is not announced. The same report again changes nothing else.
 */
export function computeReportEffects(
  dependency: Dependency,
  known: VendorIncident[],
  report: FeedReport,
  { missingReadsBeforeClose, budget, now, newId }: ReportContext,
): ReportEffects {
  const reports = selectRelevantIncidents(report, dependency.components, known)
  const { pairs, absorbed, continued, missing } = matchIncidents(
    reports,
    known,
    createComponentMatcher(report.components),
  )
  const continuedOnes = new Set(continued.values())
  const incidents: VendorIncident[] = []
  const changes: VendorChange[] = []
  let remaining = budget
  let isAnyWaiting = false
  for (const [reported, before] of pairs) {
    if (before === null && !isOpen(reported)) continue
    const start = inheritAnnouncements(before ?? createIncident(dependency, reported, newId(), now), [
      ...(absorbed.get(reported) ?? []),
      ...(continued.has(reported) ? [continued.get(reported)!] : []),
    ])
    const merged = mergeReported(start, reported, dependency, now)
    // its components are still impaired, and continue it
    if (merged.resolvedAt !== null && before !== null && continuedOnes.has(before)) {
      incidents.push({ ...merged, announced: 'end' })
      continue
    }
    const isQuiet = before === null && !dependency.isBaselined
    const isWaiting = !isQuiet && remaining <= 0 && isWorse(merged)
    if (isWaiting) isAnyWaiting = true
    const { incident, name } = isWaiting ? { incident: merged, name: null } : decideNotification(merged, isQuiet, now)
    if (name !== null) changes.push({ name, incident })
    if (name !== null && name !== 'vendor.resolved') remaining--
    if (before === null || hasChanged(before, incident)) incidents.push(incident)
  }
  // continued by the incidents that absorbed them
  for (const before of [...absorbed.values()].flat()) {
    incidents.push({ ...before, ...buildResolution(before, now), announced: 'end' })
  }
  for (const before of missing) {
    const isOver = before.missing + 1 >= missingReadsBeforeClose
    const after = { ...before, missing: before.missing + 1, ...(isOver && buildResolution(before, now)) }
    // what is missing from the feed does not begin
    const { incident, name } = isOver ? decideNotification(after, false, now) : { incident: after, name: null }
    if (name !== null) changes.push({ name, incident })
    incidents.push(incident)
  }
  const isAnyMissing = incidents.some(incident => incident.resolvedAt === null && incident.missing > 0)
  return { incidents, changes, isSettled: !isAnyMissing && !isAnyWaiting }
}

/** What was announced of incidents that an incident continues counts as announced of that incident. */
function inheritAnnouncements(incident: VendorIncident, others: VendorIncident[]): VendorIncident {
  const worst = others.reduce((level, other) => (RANK[other.worst] > RANK[level] ? other.worst : level), incident.worst)
  const isAnnounced = others.some(({ announced }) => announced === 'begin')
  return { ...incident, worst, announced: isAnnounced ? 'begin' : incident.announced }
}

const RANK: Record<ImpactLevel, number> = { none: 0, degraded: 1, down: 2 }
const LEVEL_OF: Record<VendorSeverity, ImpactLevel> = {
  none: 'none',
  minor: 'degraded',
  major: 'down',
  critical: 'down',
}

export const toImpactLevel = (severity: VendorSeverity): ImpactLevel => LEVEL_OF[severity]

/** True for an open incident that is worse than what was announced or recorded of it. */
const isWorse = ({ resolvedAt, severity, worst }: VendorIncident): boolean =>
  resolvedAt === null && RANK[toImpactLevel(severity)] > RANK[worst]

/** Decides whether a change is announced. When `isQuiet`, its level is recorded without an announcement. */
function decideNotification(
  incident: VendorIncident,
  isQuiet: boolean,
  now: Date,
): { incident: VendorIncident; name: VendorChange['name'] | null } {
  if (incident.resolvedAt !== null) {
    if (incident.announced !== 'begin') return { incident, name: null }
    return { incident: { ...incident, announced: 'end' }, name: 'vendor.resolved' }
  }
  const level = toImpactLevel(incident.severity)
  if (level === 'none' || !isWorse(incident)) return { incident, name: null }
  if (isQuiet) return { incident: { ...incident, worst: level }, name: null }
  return { incident: { ...incident, worst: level, announced: 'begin', announcedAt: now }, name: `vendor.${level}` }
}

/** The properties that follow the report of the vendor. */
const toReportedProperties = (reported: ReportedIncident, dependency: Dependency) => ({
  sourceId: reported.id,
  title: reported.title,
  severity: reported.severity,
  status: reported.status,
  components: reported.components,
  sourceUrl: reported.source_url ?? dependency.statusUrl,
})

function createIncident(dependency: Dependency, reported: ReportedIncident, id: string, now: Date): VendorIncident {
  return {
    id,
    projectId: dependency.projectId,
    dependencyId: dependency.id,
    ...toReportedProperties(reported, dependency),
    startedAt: reported.started_at === null ? now : new Date(reported.started_at),
    resolvedAt: null,
    worst: 'none',
    announced: null,
    announcedAt: null,
    missing: 0,
    createdAt: now,
    updatedAt: now,
  }
}

function mergeReported(
  before: VendorIncident,
  reported: ReportedIncident,
  dependency: Dependency,
  now: Date,
): VendorIncident {
  const after = {
    ...before,
    ...toReportedProperties(reported, dependency),
    missing: 0,
  }
  if (isOpen(reported)) return withUpdatedAt(before, { ...after, resolvedAt: null }, now)
  const resolvedAt = reported.resolved_at === null ? now : new Date(reported.resolved_at)
  return withUpdatedAt(
    before,
    { ...after, resolvedAt: before.resolvedAt ?? getLater(before.startedAt, resolvedAt) },
    now,
  )
}

const buildResolution = (before: VendorIncident, now: Date) =>
  ({ status: 'resolved', resolvedAt: getLater(before.startedAt, now), updatedAt: now }) as const

const getLater = (a: Date, b: Date) => (a > b ? a : b)

/** Serializes the properties that users see. */
const serializeVisible = ({ title, severity, status, components, sourceUrl, resolvedAt }: VendorIncident) =>
  JSON.stringify([title, severity, status, components, sourceUrl, resolvedAt])

const withUpdatedAt = (before: VendorIncident, after: VendorIncident, now: Date): VendorIncident =>
  serializeVisible(before) === serializeVisible(after) ? after : { ...after, updatedAt: now }

const hasChanged = (before: VendorIncident, after: VendorIncident): boolean =>
  serializeVisible(before) !== serializeVisible(after) ||
  before.sourceId !== after.sourceId ||
  before.missing !== after.missing ||
  before.worst !== after.worst ||
  before.announced !== after.announced
