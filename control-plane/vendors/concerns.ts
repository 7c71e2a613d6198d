import type { FeedReport, ReportedComponent, ReportedIncident } from './feeds/report.ts'
import type { VendorIncident } from './types.ts'

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
  const incidents = report.incidents.filter(
    incident => knownIds.has(incident.id) || incident.components.some(isOneOf(wanted)) || isInTitle(incident, wanted),
  )
  const told = new Set(incidents.filter(({ status }) => status !== 'resolved').flatMap(one => one.components.map(fold)))
  const impaired = report.components.filter(
    ({ id, name, severity }) =>
      severity !== 'none' && (isOneOf(wanted)(id) || isOneOf(wanted)(name)) && !told.has(fold(name)),
  )
  return [...incidents, ...impaired.map(incidentOfComponent)]
}

const isOneOf = (wanted: Set<string>) => (name: string) => wanted.has(fold(name))

function isInTitle({ title }: ReportedIncident, wanted: Set<string>): boolean {
  const words = ` ${fold(title).replace(/[^\p{L}\p{N}]+/gu, ' ')} `
  return [...wanted].some(name => {
    const sought = name.replace(/[^\p{L}\p{N}]+/gu, ' ').trim()
    return sought !== '' && words.includes(` ${sought} `)
  })
}

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

/** True for what came of a component's own status, before the vendor opened an incident. */
export const isOfComponent = ({ sourceId }: Pick<VendorIncident, 'sourceId'>): boolean =>
  sourceId.startsWith(OF_COMPONENT)
