import type { Schema } from './operations.ts'

/** A value with one fault. `text`: the value as JSON. `path`: the path that the answer has to contain. */
export type Fault = { what: string; path: string; text: string }

type Json = Record<string, unknown>

/** Numbers that JSON allows but JSON.stringify does not write. `"raw 1e400"` is replaced when the text is written. */
const rawNumber = (digits: string) => `raw ${digits}`
const write = (value: unknown) => JSON.stringify(value)?.replace(/"raw ([^"]*)"/g, '$1')

/**
 * Every single violation of a body's JSON Schema: missing required properties, null, other types, both sides of each bound,
 * unknown properties, invalid characters.
 */
export function listFaults(schema: Schema, valid: unknown, path = ''): Fault[] {
  const isNullable = schema.anyOf?.some((branch: Schema) => branch.type === 'null') === true
  const branches: Schema[] = schema.anyOf?.filter((one: Schema) => one.type !== 'null') ?? [schema]
  const branch = branches.find(one => hasShape(one, valid)) ?? branches[0]
  if (/(^|\.)headers$/.test(path)) return [...faultsInHeaders(path), ...faultsOfValue(branch, valid, path, isNullable)]
  return faultsOfValue(branch, valid, path, isNullable)
}

/** The property that distinguishes the objects of a union. */
const hasShape = ({ properties, required = [] }: Schema, valid: unknown): boolean => {
  if (!properties || typeof valid !== 'object' || valid === null) return false
  return required.every((key: string) => key in valid) && Object.keys(valid).every(key => key in properties)
}

function faultsOfValue(branch: Schema, valid: unknown, path: string, isNullable: boolean): Fault[] {
  // an alternative that this body does not have; another body has it
  if (valid === undefined && (branch.type === 'object' || branch.type === 'array'))
    return wrongTypes(branch.type, isNullable).map(([what, value]) => ({ what, path, text: write(value) }))
  const wrong = [...wrongTypes(branch.type, isNullable), ...wrongValues(branch, valid, path)]
  const own = wrong.map(([what, value]) => ({ what, path, text: write(value) }))
  if (branch.type === 'object') return [...own, ...faultsInObject(branch, valid as Json, path)]
  if (branch.type === 'array') return [...own, ...faultsInItem(branch, valid as unknown[], path)]
  return own
}

type Wrong = [what: string, value: unknown]

const SAMPLES: Record<string, unknown> = { string: 'x', integer: 60, boolean: true, array: [], object: {}, null: null }

function wrongTypes(type: string, isNullable: boolean): Wrong[] {
  const fits = (sample: string) =>
    sample === type || (type === 'number' && sample === 'integer') || (isNullable && sample === 'null')
  return Object.entries(SAMPLES)
    .filter(([sample]) => !fits(sample))
    .map(([sample, value]) => [sample === 'null' ? 'null' : `a value of type ${sample}`, value])
}

function wrongValues(schema: Schema, valid: unknown, path: string): Wrong[] {
  switch (schema.type) {
    case 'string':
      return [...wrongTexts(schema), ...(IN_A_REQUEST.test(path) ? LINES : [])]
    case 'integer':
    case 'number':
      return wrongNumbers(schema)
    case 'array':
      return wrongLists(schema, valid as unknown[])
    case 'object':
      return schema.maxProperties === undefined
        ? []
        : [[`more than ${schema.maxProperties} properties`, manyProperties(schema.maxProperties + 1)]]
    default:
      return []
  }
}

/** Fields that become part of a request line or of a name that is resolved. */
const IN_A_REQUEST = /(^|[._])(url|domain|host)$/
const LINES: Wrong[] = [
  ['CR LF in an address', 'https://a.example/\r\nX: y'],
  ['a line feed at the end of an address', 'https://a.example/\n'],
]

function wrongTexts({ minLength, maxLength, format, enum: values }: Schema): Wrong[] {
  const wrong: Wrong[] = [
    ['a NUL', 'a\0b'],
    ['half a surrogate pair', 'a\ud800b'],
  ]
  if (minLength > 0 || values || format === 'email') wrong.push(['an empty text', ''])
  if (maxLength) wrong.push(['too long a text', 'x'.repeat(maxLength + 1)])
  if (values) wrong.push(['another value', 'something else'], ['another case', swapCase(values[0])])
  if (format === 'line' || format === 'email')
    wrong.push(['CR LF', 'a@b.co\r\nX: y'], ['a line feed at the end', 'a@b.co\n'])
  return wrong
}

const swapCase = (text: string) => (text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase())

function wrongNumbers({ type, minimum, maximum }: Schema): Wrong[] {
  const wrong: Wrong[] = [
    ['a number as text', '60'],
    ['an endless number', rawNumber('1e400')],
    ['a huge number', rawNumber('99999999999999999999999')],
    ['a hugely negative number', rawNumber('-1e308')],
  ]
  if (type === 'integer') wrong.push(['a fraction', (minimum ?? 0) + 0.5])
  if (minimum !== undefined) wrong.push(['just too small', minimum - (type === 'integer' ? 1 : 1e-9)])
  if (maximum !== undefined) wrong.push(['just too large', maximum + (type === 'integer' ? 1 : 1e-9)])
  if (minimum > 0) wrong.push(['minus nought', rawNumber('-0')])
  return wrong
}

/** Longer bodies are a 413. */
const MAX_BYTES = 1_000_000

function wrongLists({ minItems, maxItems, uniqueItems }: Schema, valid: unknown[]): Wrong[] {
  const wrong: Wrong[] = []
  if (minItems > 0) wrong.push(['an empty list', []])
  const isSendable = maxItems !== undefined && JSON.stringify(valid[0]).length * maxItems < MAX_BYTES
  if (isSendable) wrong.push(['too long a list', Array.from({ length: maxItems + 1 }, () => valid[0])])
  if (uniqueItems) wrong.push(['an item twice', [valid[0], valid[0]]])
  return wrong
}

const manyProperties = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, 'v']))

function faultsInObject(schema: Schema, valid: Json, path: string): Fault[] {
  const at = (key: string) => (path === '' ? key : `${path}.${key}`)
  const missing = (schema.required ?? []).map((key: string) => {
    const { [key]: _, ...rest } = valid
    return { what: 'nothing where something is required', path: at(key), text: write(rest) }
  })
  const unknown = (schema.additionalProperties === false ? ['colour', 'constructor', 'hasOwnProperty'] : []).map(
    key => ({
      what: 'an unknown property',
      path: at(key),
      text: write({ ...valid, [key]: 1 }),
    }),
  )
  const prototype = { what: 'a __proto__', path, text: write(valid).replace('{', '{"__proto__":{"a":1},') }
  const inner = Object.entries<Schema>(schema.properties ?? {}).flatMap(([key, property]) =>
    listFaults(property, valid[key], at(key)).map(fault => ({ ...fault, text: replaced(valid, key, fault.text) })),
  )
  const free = schema.properties ? [] : faultsInFreeForm(valid, path)
  return [...missing, ...unknown, prototype, ...inner, ...free]
}

/** Invalid headers, and texts that would be two headers. */
function faultsInHeaders(path: string): Fault[] {
  const rows: [string, string, string][] = [
    ['a header with CR LF', 'X-A', 'b\r\nX-C: d'],
    ['a header with a line feed at its end', 'X-A', 'b\n'],
    ['a header outside of ISO 8859-1', 'X-A', '✓'],
    ['a header without a name', '', 'b'],
    ['a header with a blank in its name', 'X A', 'b'],
    ['a header with CR LF in its name', 'X-A\r\nX-B', 'b'],
    ['a header that frames the message', 'Transfer-Encoding', 'chunked'],
  ]
  return rows.map(([what, name, value]) => ({ what, path: `${path}.${name}`, text: write({ [name]: value }) }))
}

/** Characters that no value may contain, also in free-form objects. */
function faultsInFreeForm(valid: Json, path: string): Fault[] {
  const values: Wrong[] = [
    ['an endless number', rawNumber('1e400')],
    ['a NUL', 'a\0b'],
    ['half a surrogate pair', '\udc00'],
  ]
  return values.map(([what, value]) => ({ what, path: `${path}.p`, text: replaced(valid, 'p', write(value)) }))
}

/** The object as JSON with the raw text of one property. */
function replaced(valid: Json, key: string, text: string): string {
  const { [key]: _, ...rest } = valid
  const others = write(rest).slice(1, -1)
  return `{${others}${others && ','}${JSON.stringify(key)}:${text}}`
}

function faultsInItem(schema: Schema, valid: unknown[], path: string): Fault[] {
  return listFaults(schema.items, valid[0], `${path}[0]`).map(fault => ({ ...fault, text: `[${fault.text}]` }))
}
