import { isRecord } from '../foreign-file.ts'

/** Resolves merge keys (`<<: *defaults`), which are common in configurations of Gatus. Picket's YAML does not support them. */
export function resolveMergeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(resolveMergeKeys)
  if (!isRecord(value)) return value
  const { '<<': bases, ...own } = value
  const first = Object.fromEntries(Object.entries(own).map(([key, inner]) => [key, resolveMergeKeys(inner)]))
  // the first of several bases has priority
  return Object.assign({}, ...[bases].flat().map(resolveMergeKeys).filter(isRecord).reverse(), first)
}

/** Whether a value contains `$NAME` or `${NAME}`, which Gatus replaces by environment variables. */
export const hasVariable = (value: unknown): boolean => /\$\{?[A-Za-z_]/.test(JSON.stringify(value) ?? '')

export const VARIABLE_WARNING = 'it contains an environment variable of Gatus as text; replace it by its value'

/** Whether a body contains placeholders that Gatus replaces. */
export const hasPlaceholder = (body: unknown): boolean =>
  typeof body === 'string' &&
  /\[(ENDPOINT_NAME|ENDPOINT_GROUP|ENDPOINT_URL|LOCAL_ADDRESS|RANDOM_STRING_\d+)\]/i.test(body)
