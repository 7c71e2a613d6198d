import { isMaintenance, isScheduled, parseSeverity, parseStatus } from './classification.ts'
import { getField, type Json, parseJson, toIsoTime, toList, toText } from './parsing.ts'
import { FeedError, type FeedReport, type ReportedIncident } from './report.ts'

/**
 * Where a JSON document keeps its incidents: keys joined by dots, through lists (`affected_products.title`), from the
 * document for `incidents` (`$` is the document itself), from each incident for the others.
 */
export type JsonMapping = { [Name in keyof typeof DEFAULT_MAPPING]?: string }

/** What is read where the mapping does not say. */
export const DEFAULT_MAPPING = {
  incidents: 'incidents',
  id: 'id',
  title: 'title',
  severity: 'severity',
  status: 'status',
  components: 'components',
  started_at: 'started_at',
  resolved_at: 'resolved_at',
  updated_at: 'updated_at',
  url: 'url',
}

/**
 * A document with a list of incidents. One is over when it says so, or has a time at which it was resolved. Links may be
 * relative to `feedUrl`. Throws a FeedError.
 */
export function parseJsonFeed(text: string, mapping: JsonMapping, feedUrl: string): FeedReport {
  const document = parseJson(text)
  const places = { ...DEFAULT_MAPPING, ...mapping }
  const incidents = places.incidents === '$' ? document : at(document, places.incidents)[0]
  if (!Array.isArray(incidents)) throw new FeedError(`there is no list of incidents at ${places.incidents}`)
  return {
    status: 'unknown',
    incidents: toList(incidents).flatMap(incident => toIncident(incident, places, feedUrl)),
    components: [],
  }
}

function toIncident(incident: Json, places: typeof DEFAULT_MAPPING, feedUrl: string): ReportedIncident[] {
  const read = (place: keyof typeof DEFAULT_MAPPING) => at(incident, places[place])
  const text = (place: keyof typeof DEFAULT_MAPPING) => toText(read(place)[0])
  const title = text('title')?.replace(MARKUP, '') ?? null
  const severity = text('severity') ?? ''
  const status = text('status') ?? ''
  if (title === null || isMaintenance(severity) || isScheduled(status)) return []
  const resolvedAt = toIsoTime(read('resolved_at')[0])
  const url = text('url')
  return [
    {
      id: text('id') ?? title,
      title,
      severity: parseSeverity(severity),
      status: resolvedAt === null ? (parseStatus(status) ?? 'investigating') : 'resolved',
      components: read('components').flatMap(
        component => toText(component) ?? toText(getField(component, 'name')) ?? [],
      ),
      started_at: toIsoTime(read('started_at')[0]),
      resolved_at: resolvedAt,
      updated_at: toIsoTime(read('updated_at')[0]),
      source_url: url !== null && URL.canParse(url, feedUrl) ? new URL(url, feedUrl).href : null,
    },
  ]
}

/** Google's texts are Markdown, and begin with what they are. */
const MARKUP = /\*\*(?:(?:title|summary|description):?\*\*:?\s*)?/gi

const MAX_VALUES = 200

/** All that stands at a path. A list at its end is left as it is. */
function at(value: Json, path: string): Json[] {
  let found: Json[] = [value]
  for (const key of path.split('.')) {
    found = found
      .flatMap(one => (Array.isArray(one) ? one.slice(0, MAX_VALUES) : [one]))
      .map(one => getField(one, key))
      .filter(one => one !== undefined && one !== null)
  }
  return found
}
