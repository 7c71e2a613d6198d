import { EVENT_NAMES } from '../../control-plane/alerting/events/catalog.ts'
import { ENVELOPE, EVENT_FIELDS, EVENTS, HEADERS } from './deliveries.ts'
import { RESOURCES, type Resource } from './fields.ts'
import { LIMITS, type Limit } from './limits.ts'
import { OPERATIONS } from './operations.ts'
import { listDemandedStatuses } from './read-answers.ts'
import { faultOfField, type Schema } from './schema-match.ts'

/** The facts that the published interface is compared with. */
export type Facts = {
  /** operations of the OpenAPI document by name (`GET /monitors`), with references resolved */
  operations: Record<
    string,
    { name: string; operationId: string; body: Schema | null; answers: Record<string, Schema | null> }
  >
  /** bodies of sample deliveries, by event */
  deliveries: Record<string, { body: Record<string, unknown> }>
  /** names of the headers of a replayed delivery */
  headers: string[]
  tests: { path: string; text: string }[]
}

/** A row of a table: its cells, and what is missing; null when it is complete. */
type Row = { cells: string[]; missing: string | null }
type Table = { title: string; head: string[]; rows: Row[] }

/** Builds tables of everything that the published interface lists, each row with its place. */
export function buildCoverage(facts: Facts): Table[] {
  return [
    {
      title: 'Operations',
      head: ['operation', 'method of the client', 'statuses'],
      rows: operationRows(facts),
    },
    { title: 'Fields', head: ['resource', 'field', 'create', 'update', 'answer'], rows: fieldRows(facts) },
    { title: 'Events', head: ['event', 'fields of `data`'], rows: eventRows(facts) },
    { title: 'Deliveries', head: ['part', 'names'], rows: deliveryRows(facts) },
    { title: 'Limits', head: ['limit', 'value', 'where'], rows: limitRows(facts) },
    { title: 'Additional operations', head: ['operation', 'method of the client', 'statuses'], rows: otherRows(facts) },
    { title: 'Additional events', head: ['event'], rows: otherEventRows() },
  ]
}

/** What the published interface requires and is missing. */
export const listMissing = (tables: Table[]): string[] =>
  tables.flatMap(({ rows }) => rows.flatMap(({ missing }) => missing ?? []))

export function toMarkdown(tables: Table[]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return tables
    .map(({ title, head, rows }) =>
      [`## ${title}`, '', line(head), line(head.map(() => '---')), ...rows.map(({ cells }) => line(cells))].join('\n'),
    )
    .join('\n\n')
}

function operationRows({ operations }: Facts): Row[] {
  return Object.entries(OPERATIONS).map(([name, statuses]) => {
    const operation = operations[name]
    if (!operation) return { cells: [`\`${name}\``, '–', '–'], missing: `${name}: no route` }
    const undocumented = statuses.filter(status => !(status in operation.answers))
    const missing = undocumented.length > 0 ? `${name} does not document ${undocumented.join(', ')}` : null
    return { cells: buildCells(operation), missing }
  })
}

/** Operations in addition to the published interface. */
function otherRows({ operations }: Facts): Row[] {
  const others = Object.values(operations).filter(({ name }) => !OPERATIONS[name])
  return others.map(operation => ({ cells: buildCells(operation), missing: null }))
}

const buildCells = (operation: Facts['operations'][string]) => [
  `\`${operation.name}\``,
  operation.operationId,
  listDemandedStatuses(operation).join(', '),
]

const otherEventRows = (): Row[] =>
  EVENT_NAMES.filter(name => !(name in EVENTS)).map(name => ({ cells: [`\`${name}\``], missing: null }))

function fieldRows({ operations }: Facts): Row[] {
  const findBody = (name?: string) => (name ? (operations[name]?.body ?? null) : null)
  return RESOURCES.flatMap(({ name, create, update, answer }) =>
    listNames({ name, create, update, answer }).map(field => {
      const isRequired = create?.required.includes(field) === true
      const created =
        create?.fields[field] && faultOfField(findBody(create.operation), field, create.fields[field], isRequired)
      const updated =
        update?.fields[field] && faultOfField(findBody(update.operation), field, update.fields[field], false)
      const isRefused = update?.refuses?.includes(field) === true
      const refused =
        isRefused && findBody(update.operation)?.properties?.[field] ? 'is accepted by the update' : undefined
      const isAnswered = answer?.fields.includes(field) === true
      const answered =
        isAnswered && !isInAnswer(operations[answer.operation], field) ? 'is not in the answer' : undefined
      const wrong = [created, updated, refused, answered].find(fault => fault)
      const cells = [
        name,
        `\`${field}\``,
        create?.fields[field] ? (isRequired ? 'required' : 'accepted') : '',
        update?.fields[field] ? 'accepted' : isRefused ? 'refused' : '',
        isAnswered ? 'shown' : '',
      ]
      return { cells, missing: wrong ? `${name}.${field} ${wrong}` : null }
    }),
  )
}

const listNames = ({ create, update, answer }: Resource) => [
  ...new Set([...Object.keys(create?.fields ?? {}), ...Object.keys(update?.fields ?? {}), ...(answer?.fields ?? [])]),
]

function isInAnswer(operation: Facts['operations'][string] | undefined, field: string): boolean {
  const success = Object.entries(operation?.answers ?? {}).find(([status]) => status.startsWith('2'))?.[1]
  const data = success?.properties?.data
  return (data?.items ?? data)?.properties?.[field] !== undefined
}

function eventRows({ deliveries }: Facts): Row[] {
  return Object.entries(EVENTS).map(([event, kind]) => {
    const data = deliveries[event]?.body.data
    const lost = EVENT_FIELDS[kind].filter(path => !isAt(data, path.split('.')))
    const fields = EVENT_FIELDS[kind].map(path => `\`${path}\``).join(', ')
    return { cells: [`\`${event}\``, fields], missing: lost.length > 0 ? `${event} without ${lost.join(', ')}` : null }
  })
}

function isAt(value: unknown, [key, ...rest]: string[]): boolean {
  if (key === undefined) return true
  const object = Array.isArray(value) ? value[0] : value
  return typeof object === 'object' && object !== null && key in object && isAt((object as Schema)[key], rest)
}

function deliveryRows({ deliveries, headers }: Facts): Row[] {
  const bodies = Object.values(deliveries).map(({ body }) => body)
  const row = (part: string, names: string[], hasName: (name: string) => boolean) => {
    const lost = names.filter(name => !hasName(name))
    const cells = [part, names.map(name => `\`${name}\``).join(', ')]
    return { cells, missing: lost.length > 0 ? `${part} without ${lost.join(', ')}` : null }
  }
  return [
    row('envelope', ENVELOPE, name => bodies.length > 0 && bodies.every(body => name in body)),
    row('headers', HEADERS, name => headers.includes(name)),
  ]
}

function limitRows(facts: Facts): Row[] {
  return LIMITS.map(limit => {
    const place = placeOfLimit(facts, limit)
    return { cells: [limit.name, limit.value, place ?? '–'], missing: place ? null : `the limit ${limit.name}` }
  })
}

function placeOfLimit({ operations, tests }: Facts, limit: Limit): string | undefined {
  if ('test' in limit) return tests.find(({ path, text }) => path === limit.test && text.includes(limit.title))?.path
  const { operation, field, bounds } = limit
  const [name = '', isItem] = field.split('[]')
  const property = operations[operation]?.body?.properties?.[name]
  const given = property?.anyOf?.find((branch: Schema) => branch.type !== 'null') ?? property
  const schema = isItem === undefined ? given : given?.items
  const isMet = Object.entries(bounds).every(([bound, value]) => schema?.[bound] === value)
  return isMet ? `the body of \`${operation}\`` : undefined
}
