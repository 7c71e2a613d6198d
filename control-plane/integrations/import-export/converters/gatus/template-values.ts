import { isRecord } from '../foreign-file.ts'

/** With what merge keys (`<<: *defaults`) bring in. Gatus' configurations are kept short by them; our YAML has none. */
export function resolveMergeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(resolveMergeKeys)
  if (!isRecord(value)) return value
  const { '<<': bases, ...own } = value
  const first = Object.fromEntries(Object.entries(own).map(([key, inner]) => [key, resolveMergeKeys(inner)]))
  // of several bases the first says what it is
  return Object.assign({}, ...[bases].flat().map(resolveMergeKeys).filter(isRecord).reverse(), first)
}

/** Gatus puts environment variables in place of `$NAME` and `${NAME}`, wherever they stand. */
export const hasVariable = (value: unknown): boolean => /\$\{?[A-Za-z_]/.test(JSON.stringify(value) ?? '')

export const VARIABLE_WARNING = 'it holds an environment variable of Gatus as a text; put its value there'

/** Gatus puts values in place of these in a body. */
export const hasPlaceholder = (body: unknown): boolean =>
  typeof body === 'string' &&
  /\[(ENDPOINT_NAME|ENDPOINT_GROUP|ENDPOINT_URL|LOCAL_ADDRESS|RANDOM_STRING_\d+)\]/i.test(body)
