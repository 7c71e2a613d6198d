import { isOpen, type ReportedIncident } from '../feeds/report.ts'
import type { VendorIncident } from '../types.ts'
import { createComponentMatcher, isComponentIncident } from './affected-components.ts'

/** What is reported with what is known of it (null: it is new), and what is known to be open and not reported. */
export type IncidentMatches = {
  pairs: [reported: ReportedIncident, known: VendorIncident | null][]
  missing: VendorIncident[]
}

/**
 * Finds what is known again: by the vendor's id, else by the title, because some make new ids each time, else by the
 * component, whose trouble is seen before the vendor opens an incident or after it has left that out. An id that comes again after its incident was
 * over is another incident, unless that one began before.
 */
export function matchIncidents(reported: ReportedIncident[], known: VendorIncident[]): IncidentMatches {
  const free = new Set(known.filter(({ resolvedAt }) => resolvedAt === null))
  const ended = known.filter(({ resolvedAt }) => resolvedAt !== null)
  const pairs = new Map<ReportedIncident, VendorIncident | null>(reported.map(one => [one, null]))
  const pair = (find: (one: ReportedIncident) => (incident: VendorIncident) => boolean) => {
    for (const one of reported) {
      if (pairs.get(one) !== null) continue
      const found = [...free].find(find(one))
      if (!found) continue
      pairs.set(one, found)
      free.delete(found)
    }
  }
  pair(
    ({ id }) =>
      incident =>
        incident.sourceId === id,
  )
  for (const one of reported) if (pairs.get(one) === null) pairs.set(one, ended.find(isSameIncident(one)) ?? null)
  pair(
    ({ title }) =>
      incident =>
        incident.title.toLowerCase() === title.toLowerCase(),
  )
  pair(one => incident => isComponentIncident(incident) && createComponentMatcher([one])(incident.components[0] ?? ''))
  pair(
    one => incident =>
      isComponentIncident({ sourceId: one.id }) && createComponentMatcher([incident])(one.components[0] ?? ''),
  )
  return { pairs: [...pairs], missing: [...free] }
}

const isSameIncident = (one: ReportedIncident) => (incident: VendorIncident) =>
  incident.sourceId === one.id &&
  (!isOpen(one) || (one.started_at !== null && Date.parse(one.started_at) <= incident.resolvedAt!.getTime()))
