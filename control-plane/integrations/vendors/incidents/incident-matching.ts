import { isOpen, type ReportedIncident } from '../feeds/report.ts'
import type { VendorIncident } from '../types.ts'
import { canExplain, type createComponentMatcher, isComponentIncident } from './affected-components.ts'

type CreateMatcher = ReturnType<typeof createComponentMatcher>

/** Reported incidents with the known ones (null: new), and known open incidents that are not reported. */
type IncidentMatches = {
  pairs: [reported: ReportedIncident, known: VendorIncident | null][]
  /** open incidents of components that an open incident of the vendor mentions, besides the one that it is paired with */
  absorbed: Map<ReportedIncident, VendorIncident[]>
  /** for incidents of components that are new: the incident of the vendor that mentioned them and was removed or resolved */
  continued: Map<ReportedIncident, VendorIncident>
  missing: VendorIncident[]
}

/**
 * Matches reported incidents with known ones, in this order (docs/design/vendors.md#matching):
 *
 * 1. Open known incidents with the same id of the vendor.
 * 2. Ended known incidents with the same id, unless the reported one began after that end.
 * 3. Open known incidents with the same title, because some feeds change their ids.
 * 4. Incidents of a component and incidents that mention it, because the component's status may change before the vendor
 *    opens an incident, or stay after the vendor has removed or resolved it. Each is paired with one; the others are absorbed by it, or
 *    take over its announcement.
 */
export function matchIncidents(
  reported: ReportedIncident[],
  known: VendorIncident[],
  createMatcher: CreateMatcher,
): IncidentMatches {
  const free = new Set(known.filter(({ resolvedAt }) => resolvedAt === null))
  const ended = known.filter(({ resolvedAt }) => resolvedAt !== null)
  const pairs = new Map<ReportedIncident, VendorIncident | null>(reported.map(incident => [incident, null]))
  const pair = (createTest: (candidate: ReportedIncident) => (incident: VendorIncident) => boolean) => {
    for (const candidate of reported) {
      if (pairs.get(candidate) !== null) continue
      const found = [...free].find(createTest(candidate))
      if (!found) continue
      pairs.set(candidate, found)
      free.delete(found)
    }
  }
  pair(
    ({ id }) =>
      incident =>
        incident.sourceId === id,
  )
  for (const candidate of reported) {
    if (pairs.get(candidate) === null) pairs.set(candidate, ended.find(isSameIncident(candidate)) ?? null)
  }
  pair(
    ({ title }) =>
      incident =>
        incident.title.toLowerCase() === title.toLowerCase(),
  )
  pair(
    candidate => incident =>
      !isForInformation(candidate) &&
      isComponentIncident(incident) &&
      createMatcher([candidate])(incident.components[0] ?? ''),
  )
  const absorbed = absorbComponents(reported, free, createMatcher)
  const gone = [...free].filter(incident => !isComponentIncident(incident))
  pair(
    candidate => incident =>
      isComponentIncident({ sourceId: candidate.id }) && createMatcher([incident])(candidate.components[0] ?? ''),
  )
  const continued = new Map<ReportedIncident, VendorIncident>()
  const endedNow = [...pairs].flatMap(([report, incident]) =>
    incident !== null && isEndedNow(report, incident) ? [{ report, incident }] : [],
  )
  for (const candidate of reported) {
    if (pairs.get(candidate) !== null || !isComponentIncident({ sourceId: candidate.id })) continue
    const component = candidate.components[0] ?? ''
    const mentioning =
      gone.find(incident => createMatcher([incident])(component)) ??
      endedNow.find(({ report, incident }) => createMatcher([report, incident])(component))?.incident
    if (mentioning) continued.set(candidate, mentioning)
  }
  return { pairs: [...pairs], absorbed, continued, missing: [...free] }
}

const isForInformation = (candidate: ReportedIncident): boolean => isOpen(candidate) && !canExplain(candidate)

/** Whether the vendor reports an open incident as resolved. */
const isEndedNow = (reported: ReportedIncident, known: VendorIncident): boolean =>
  !isOpen(reported) && known.resolvedAt === null && !isComponentIncident(known)

/** Takes the incidents of components that an open incident of the vendor mentions out of `free`. */
function absorbComponents(reported: ReportedIncident[], free: Set<VendorIncident>, createMatcher: CreateMatcher) {
  const absorbed = new Map<ReportedIncident, VendorIncident[]>()
  for (const candidate of reported) {
    if (!canExplain(candidate) || isComponentIncident({ sourceId: candidate.id })) continue
    const isMentioned = createMatcher([candidate])
    const found = [...free].filter(
      incident => isComponentIncident(incident) && isMentioned(incident.components[0] ?? ''),
    )
    for (const incident of found) free.delete(incident)
    if (found.length > 0) absorbed.set(candidate, found)
  }
  return absorbed
}

const isSameIncident = (candidate: ReportedIncident) => (incident: VendorIncident) =>
  incident.sourceId === candidate.id &&
  (!isOpen(candidate) ||
    (candidate.started_at !== null && Date.parse(candidate.started_at) <= incident.resolvedAt!.getTime()))
