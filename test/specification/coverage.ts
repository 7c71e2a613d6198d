import { EVENT_NAMES } from '../../control-plane/alerting/events/catalog.ts'
import { CHAT_SCOPES, ENVELOPE, EVENT_FIELDS, EVENTS, HEADERS } from './deliveries.ts'
import { RESOURCES, type Resource } from './fields.ts'
import { LIMITS, type Limit } from './limits.ts'
import { OPERATIONS } from './operations.ts'
import { faultOfField, type Schema } from './schema-match.ts'

/** The facts with which the specification is compared. */
export type Facts = {
  /** operations of the OpenAPI document by `GET /monitors`, with references resolved */
  operations: Record<string, { operationId: string; body: Schema | null; answers: Record<string, Schema | null> }>
  /** titles of tests and the sentences of their tables */
  tests: { path: string; titles: string[]; sentences: string[] }[]
  /** bodies of sample deliveries, by event */
  deliveries: Record<string, { body: Record<string, unknown> }>
}

/** A row of a table: its cells, and what is missing; null when nothing is missing. */
type Row = { cells: string[]; missing: string | null }
type Table = { title: string; head: string[]; rows: Row[] }

/** Tables of everything that the specification lists; each row names where it is. */
export function coverageOf(facts: Facts): Table[] {
  return [
    {
      title: 'Operations',
      head: ['operation', 'method of the client', 'statuses and their tests'],
      rows: operationRows(facts),
    },
    { title: 'Fields', head: ['resource', 'field', 'create', 'update', 'answer'], rows: fieldRows(facts) },
    { title: 'Events', head: ['event', 'fields of `data`'], rows: eventRows(facts) },
    { title: 'Deliveries and the chat app', head: ['part', 'names'], rows: deliveryRows(facts) },
    { title: 'Limits', head: ['limit', 'value', 'where'], rows: limitRows(facts) },
    { title: 'Beyond the specification', head: ['operation', 'method of the client'], rows: otherRows(facts) },
    { title: 'Events beyond the specification', head: ['event'], rows: otherEventRows() },
  ]
}

/** Everything of the specification that is missing or has no test. */
export const missingOf = (tables: Table[]): string[] =>
  tables.flatMap(({ rows }) => rows.flatMap(({ missing }) => missing ?? []))

export function toMarkdown(tables: Table[]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return tables
    .map(({ title, head, rows }) =>
      [`## ${title}`, '', line(head), line(head.map(() => '---')), ...rows.map(({ cells }) => line(cells))].join('\n'),
    )
    .join('\n\n')
}

function operationRows({ operations, tests }: Facts): Row[] {
  return Object.entries(OPERATIONS).map(([name, statuses]) => {
    const placeOf = (status: number) =>
      tests.find(({ titles }) =>
        titles.some(title => `${title} `.includes(`${name} `) && new RegExp(`\\b${status}\\b`).test(title)),
      )?.path
    const untested = statuses.filter(status => !placeOf(status))
    const operation = operations[name]
    const missing = !operation ? 'no route' : untested.length > 0 ? `no test of ${untested.join(', ')}` : null
    const shown = statuses.map(status => `${status}: ${placeOf(status) ?? '–'}`).join('<br>')
    return { cells: [`\`${name}\``, operation?.operationId ?? '–', shown], missing: missing && `${name}: ${missing}` }
  })
}

/** Operations that users of comparable products expect, in addition to the specification. */
function otherRows({ operations }: Facts): Row[] {
  return Object.entries(operations)
    .filter(([name]) => !OPERATIONS[name])
    .map(([name, { operationId }]) => ({ cells: [`\`${name}\``, operationId], missing: null }))
}

const otherEventRows = (): Row[] =>
  EVENT_NAMES.filter(name => !(name in EVENTS)).map(name => ({ cells: [`\`${name}\``], missing: null }))

function fieldRows({ operations }: Facts): Row[] {
  const bodyOf = (name?: string) => (name ? (operations[name]?.body ?? null) : null)
  return RESOURCES.flatMap(({ name, create, update, answer }) =>
    namesOf({ name, create, update, answer }).map(field => {
      const isRequired = create?.required.includes(field) === true
      const created =
        create?.fields[field] && faultOfField(bodyOf(create.operation), field, create.fields[field], isRequired)
      const updated =
        update?.fields[field] && faultOfField(bodyOf(update.operation), field, update.fields[field], false)
      const isRefused = update?.refuses?.includes(field) === true
      const refused = isRefused && bodyOf(update.operation)?.properties?.[field] ? 'is taken by the update' : undefined
      const isAnswered = answer?.fields.includes(field) === true
      const answered =
        isAnswered && !isInAnswer(operations[answer.operation], field) ? 'is not in the answer' : undefined
      const wrong = [created, updated, refused, answered].find(fault => fault)
      const cells = [
        name,
        `\`${field}\``,
        create?.fields[field] ? (isRequired ? 'required' : 'taken') : '',
        update?.fields[field] ? 'taken' : isRefused ? 'refused' : '',
        isAnswered ? 'shown' : '',
      ]
      return { cells, missing: wrong ? `${name}.${field} ${wrong}` : null }
    }),
  )
}

const namesOf = ({ create, update, answer }: Resource) => [
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
  const holder = Array.isArray(value) ? value[0] : value
  return typeof holder === 'object' && holder !== null && key in holder && isAt((holder as Schema)[key], rest)
}

function deliveryRows({ deliveries, tests }: Facts): Row[] {
  const bodies = Object.values(deliveries).map(({ body }) => body)
  const lost = ENVELOPE.filter(name => !bodies.length || bodies.some(body => !(name in body)))
  const unsaid = (names: string[]) =>
    names.filter(
      name => !tests.some(({ sentences }) => sentences.some(one => wordsOf(one).includes(name.toLowerCase()))),
    )
  const row = (part: string, names: string[], missing: string[]) => ({
    cells: [part, names.map(name => `\`${name}\``).join(', ')],
    missing: missing.length > 0 ? `${part} without ${missing.join(', ')}` : null,
  })
  return [
    row('envelope', ENVELOPE, lost),
    row('headers', HEADERS, unsaid(HEADERS)),
    row('scopes of the chat app', CHAT_SCOPES, unsaid(CHAT_SCOPES)),
  ]
}

const wordsOf = (sentence: string) => sentence.toLowerCase().split(/[ ,]/)

function limitRows(facts: Facts): Row[] {
  return LIMITS.map(limit => {
    const place = placeOfLimit(facts, limit)
    return { cells: [limit.name, limit.value, place ?? '–'], missing: place ? null : `the limit ${limit.name}` }
  })
}

function placeOfLimit({ operations, tests }: Facts, limit: Limit): string | undefined {
  if ('says' in limit) return tests.find(({ sentences }) => sentences.some(one => limit.says.test(one)))?.path
  const { operation, field, bounds } = limit
  const [name = '', isItem] = field.split('[]')
  const property = operations[operation]?.body?.properties?.[name]
  const given = property?.anyOf?.find((branch: Schema) => branch.type !== 'null') ?? property
  const schema = isItem === undefined ? given : given?.items
  const isMet = Object.entries(bounds).every(([bound, value]) => schema?.[bound] === value)
  return isMet ? `the body of \`${operation}\`` : undefined
}
