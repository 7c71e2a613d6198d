import {
  type FeedReport,
  isOpen,
  type ReportedComponent,
  type ReportedIncident,
  VENDOR_SEVERITIES,
  type VendorSeverity,
} from '../feeds/report.ts'
import type { VendorIncident } from '../types.ts'

/** Maximum number of impaired components that count without an incident. A page may have a thousand with one name. */
const MAX_IMPAIRED_COMPONENTS = 50

const normalizeName = (name: string) => name.trim().toLowerCase()

/**
 * Selects the incidents of a report that concern a dependency (docs/design/vendors.md#components). Without component
 * names, all of them. With names: incidents that list one of them or have it in their title, incidents that are already
 * known, and impaired components with these names that no open incident mentions. The severity of an open incident is at least
 * that of the named components that it mentions.
 */
export function selectRelevantIncidents(
  report: FeedReport,
  names: string[],
  known: VendorIncident[],
): ReportedIncident[] {
  if (names.length === 0) return report.incidents
  const createMatcher = createComponentMatcher(report.components)
  const trackedNames = new Set(names.map(normalizeName))
  const knownIds = new Set(known.map(({ sourceId }) => sourceId))
  const incidents = report.incidents.filter(
    incident => knownIds.has(incident.id) || names.some(createMatcher([incident])),
  )
  const impaired = report.components.filter(
    ({ id, name, severity }) =>
      severity !== 'none' && (trackedNames.has(normalizeName(id)) || trackedNames.has(normalizeName(name))),
  )
  const isMentioned = createMatcher(incidents.filter(canExplain))
  const unmentioned = impaired.filter(({ name }) => !isMentioned(name))
  const mentioned = listWorst(impaired.filter(({ name }) => isMentioned(name)))
  const raised = incidents.map(incident => {
    if (mentioned.length === 0 || !canExplain(incident)) return incident
    const isOfIncident = createMatcher([incident])
    const severities = mentioned.filter(({ name }) => isOfIncident(name)).map(({ severity }) => severity)
    return { ...incident, severity: getWorst([incident.severity, ...severities]) }
  })
  return [...raised, ...unmentioned.slice(0, MAX_IMPAIRED_COMPONENTS).map(toComponentIncident)]
}

/** Whether an incident can be the reason for the status of a component. One of severity `none` is for information only. */
export const canExplain = (incident: Pick<ReportedIncident, 'status' | 'severity'>): boolean =>
  isOpen(incident) && incident.severity !== 'none'

/** Returns the worst component of each name. */
function listWorst(components: ReportedComponent[]): ReportedComponent[] {
  const bySeverity = VENDOR_SEVERITIES.flatMap(severity => components.filter(one => one.severity === severity))
  return [...new Map(bySeverity.map(one => [normalizeName(one.name), one])).values()].slice(-MAX_IMPAIRED_COMPONENTS)
}

const getWorst = (severities: VendorSeverity[]): VendorSeverity =>
  VENDOR_SEVERITIES.findLast(severity => severities.includes(severity)) ?? 'none'

type TitledIncident = Pick<ReportedIncident, 'title' | 'components'>

/**
 * Returns a function that creates a test whether one of some incidents lists a component or has it in its title. `all`: the
 * components of the report. The name of one of them in a title does not count where it is part of the
 * longer name of another one: "API Gateway errors" is not about the component "API" when "API Gateway" is a component, too.
 */
export function createComponentMatcher(
  all: Pick<ReportedComponent, 'name'>[],
): (incidents: TitledIncident[]) => (component: string) => boolean {
  // built when it is needed, because a page may have a thousand components
  let allWords: Set<string> | null = null
  const hasInTitle = (title: string, words: string): boolean => {
    if (words.trim() === '' || !title.includes(words)) return false
    allWords ??= new Set(all.map(({ name }) => normalizeWords(name)))
    if (!allWords.has(words)) return true
    let rest = title
    for (const longer of allWords) {
      if (longer === words || !longer.includes(words)) continue
      while (rest.includes(longer)) rest = rest.replace(longer, REMOVED)
    }
    return rest.includes(words)
  }
  return incidents => {
    const affected = new Set(incidents.flatMap(({ components }) => components.map(normalizeName)))
    const titles = incidents.map(({ title }) => normalizeWords(title))
    return component => {
      const words = normalizeWords(component)
      return affected.has(normalizeName(component)) || titles.some(title => hasInTitle(title, words))
    }
  }
}

/** Takes the place of a name that was removed from a title. It is part of no name. */
const REMOVED = ' | '

const normalizeWords = (text: string) => ` ${normalizeName(text.replace(/[^\p{L}\p{N}]+/gu, ' '))} `

const COMPONENT_ID_PREFIX = 'component:'
const SEVERITY_LABELS = { none: 'operational', minor: 'degraded', major: 'partial outage', critical: 'major outage' }

function toComponentIncident({ id, name, severity }: ReportedComponent): ReportedIncident {
  return {
    id: `${COMPONENT_ID_PREFIX}${id}`,
    title: `${name}: ${SEVERITY_LABELS[severity]}`,
    severity,
    status: 'investigating',
    components: [name],
    started_at: null,
    resolved_at: null,
    updated_at: null,
    source_url: null,
  }
}

/** Whether an incident was made from the status of a component, without an incident of the vendor. */
export const isComponentIncident = ({ sourceId }: Pick<VendorIncident, 'sourceId'>): boolean =>
  sourceId.startsWith(COMPONENT_ID_PREFIX)
