import { isMaintenance, isScheduled, parseSeverity, parseStatus } from './classification.ts'
import { getField, type Json, parseJson, toIsoTime, toList, toText } from './parsing.ts'
import { FeedError, type FeedReport, type ReportedIncident } from './report.ts'

/**
 * Paths in a JSON document: keys separated by dots, through lists (`affected_products.title`). `incidents` starts at the
 * document (`$` is the document itself), the others start at each incident.
 */
export type JsonMapping = { [Name in keyof typeof DEFAULT_MAPPING]?: string }

/** Paths that the mapping does not set. */
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
 * Parses a document with a list of incidents. An incident is resolved by its status or by a time of resolution. Links
 * may be relative to `feedUrl`. Throws a FeedError.
 */
export function parseJsonFeed(text: string, mapping: JsonMapping, feedUrl: string): FeedReport {
  const document = parseJson(text)
  const paths = { ...DEFAULT_MAPPING, ...mapping }
  const incidents = paths.incidents === '$' ? document : at(document, paths.incidents)[0]
  if (!Array.isArray(incidents)) throw new FeedError(`the document has no list of incidents at ${paths.incidents}`)
  return {
    status: 'unknown',
    incidents: toList(incidents).flatMap(incident => toIncident(incident, paths, feedUrl)),
    components: [],
  }
}

function toIncident(incident: Json, paths: typeof DEFAULT_MAPPING, feedUrl: string): ReportedIncident[] {
  const read = (field: keyof typeof DEFAULT_MAPPING) => at(incident, paths[field])
  const text = (field: keyof typeof DEFAULT_MAPPING) => toText(read(field)[0])
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

/** Texts of Google are Markdown and begin with a label. */
const MARKUP = /\*\*(?:(?:title|summary|description):?\*\*:?\s*)?/gi

const MAX_VALUES = 200

/** Returns all values at a path. A list at the end of the path is returned as one value. */
function at(value: Json, path: string): Json[] {
  let found: Json[] = [value]
  for (const key of path.split('.')) {
    found = found
      .flatMap(item => (Array.isArray(item) ? item.slice(0, MAX_VALUES) : [item]))
      .map(item => getField(item, key))
      .filter(item => item !== undefined && item !== null)
  }
  return found
}
