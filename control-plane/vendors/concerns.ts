import { type FeedReport, isOpen, type ReportedComponent, type ReportedIncident } from './feeds/report.ts'
import type { VendorIncident } from './types.ts'

/** Components of a dependency that are told without an incident; a page may have a thousand of one name. */
const MOST_IMPAIRED = 50

const fold = (name: string) => name.trim().toLowerCase()

/**
 * What of a report concerns a dependency. Without names of components all of it. With names: incidents that name one of
 * them as affected or in their title, those that are known already, and components of these names that are impaired
 * while no incident says so.
 */
export function concerning(report: FeedReport, names: string[], known: VendorIncident[]): ReportedIncident[] {
  if (names.length === 0) return report.incidents
  const wanted = new Set(names.map(fold))
  const knownIds = new Set(known.map(({ sourceId }) => sourceId))
  const incidents = report.incidents.filter(incident => knownIds.has(incident.id) || names.some(toldBy([incident])))
  const isTold = toldBy(incidents.filter(isOpen))
  const impaired = report.components.filter(
    ({ id, name, severity }) =>
      severity !== 'none' && (wanted.has(fold(id)) || wanted.has(fold(name))) && !isTold(name),
  )
  return [...incidents, ...impaired.slice(0, MOST_IMPAIRED).map(incidentOfComponent)]
}

type Named = Pick<ReportedIncident, 'title' | 'components'>

/** Whether one of some incidents names a component as affected, or in its title. */
export function toldBy(incidents: Named[]): (component: string) => boolean {
  const affected = new Set(incidents.flatMap(({ components }) => components.map(fold)))
  const titles = incidents.map(({ title }) => wordsOf(title))
  return component => {
    const words = wordsOf(component)
    return affected.has(fold(component)) || (words.trim() !== '' && titles.some(title => title.includes(words)))
  }
}

const wordsOf = (text: string) => ` ${fold(text.replace(/[^\p{L}\p{N}]+/gu, ' '))} `

const OF_COMPONENT = 'component:'
const SAYINGS = { none: 'operational', minor: 'degraded', major: 'partial outage', critical: 'major outage' }

function incidentOfComponent({ id, name, severity }: ReportedComponent): ReportedIncident {
  return {
    id: `${OF_COMPONENT}${id}`,
    title: `${name}: ${SAYINGS[severity]}`,
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
export const isOfComponent = ({ sourceId }: Pick<VendorIncident, 'sourceId'>): boolean =>
  sourceId.startsWith(OF_COMPONENT)
