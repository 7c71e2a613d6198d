import { type FeedReport, isOpen, type ReportedComponent, type ReportedIncident } from '../feeds/report.ts'
import type { VendorIncident } from '../types.ts'

/** Components of a dependency that are told without an incident; a page may have a thousand of one name. */
const MAX_IMPAIRED_COMPONENTS = 50

const normalizeName = (name: string) => name.trim().toLowerCase()

/**
 * What of a report concerns a dependency. Without names of components all of it. With names: incidents that name one of
 * them as affected or in their title, those that are known already, and components of these names that are impaired
 * while no incident says so.
 */
export function selectRelevantIncidents(
  report: FeedReport,
  names: string[],
  known: VendorIncident[],
): ReportedIncident[] {
  if (names.length === 0) return report.incidents
  const wanted = new Set(names.map(normalizeName))
  const knownIds = new Set(known.map(({ sourceId }) => sourceId))
  const incidents = report.incidents.filter(
    incident => knownIds.has(incident.id) || names.some(createComponentMatcher([incident])),
  )
  const isTold = createComponentMatcher(incidents.filter(isOpen))
  const impaired = report.components.filter(
    ({ id, name, severity }) =>
      severity !== 'none' && (wanted.has(normalizeName(id)) || wanted.has(normalizeName(name))) && !isTold(name),
  )
  return [...incidents, ...impaired.slice(0, MAX_IMPAIRED_COMPONENTS).map(toComponentIncident)]
}

type TitledIncident = Pick<ReportedIncident, 'title' | 'components'>

/** Whether one of some incidents names a component as affected, or in its title. */
export function createComponentMatcher(incidents: TitledIncident[]): (component: string) => boolean {
  const affected = new Set(incidents.flatMap(({ components }) => components.map(normalizeName)))
  const titles = incidents.map(({ title }) => normalizeWords(title))
  return component => {
    const words = normalizeWords(component)
    return (
      affected.has(normalizeName(component)) || (words.trim() !== '' && titles.some(title => title.includes(words)))
    )
  }
}

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

/** True for what comes of a component's own status, while the vendor has no incident open about it. */
export const isComponentIncident = ({ sourceId }: Pick<VendorIncident, 'sourceId'>): boolean =>
  sourceId.startsWith(COMPONENT_ID_PREFIX)
