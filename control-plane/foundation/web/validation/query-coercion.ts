type Schema = { type?: unknown; properties?: Record<string, { type?: unknown }> }

/**
 * A query string says everything as text. What reads exactly as a whole number, a number, `true` or `false` where the schema
 * asks for one becomes it; everything else stays text, for the validation to refuse.
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
