type Schema = { type?: unknown; properties?: Record<string, { type?: unknown }> }

/**
 * Converts query values, which are all strings: a text that is exactly an integer, a number, `true` or `false` is converted
 * where the schema has that type. Everything else stays a string, which the validation refuses.
 */
export function coerceQuery(query: Record<string, unknown>, schema: Schema): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, coerceValue(value, schema.properties?.[name]?.type)]),
  )
}

function coerceValue(value: unknown, type: unknown): unknown {
  if (typeof value !== 'string') return value
  if (type === 'integer' && /^-?\d{1,15}$/.test(value)) return Number(value)
  if (type === 'number' && /^-?\d{1,15}(\.\d{1,15})?$/.test(value)) return Number(value)
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  return value
}
