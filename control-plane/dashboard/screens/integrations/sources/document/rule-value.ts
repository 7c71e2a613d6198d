/** Values of rules as people type them. */

/** A number, true, false, null or JSON as it is; everything else is a text, with or without quotes. */
export function parseRuleValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text.trim()
  }
}

/** The text of a value that parseRuleValue reads as this value. */
export function formatRuleValue(value: unknown): string {
  if (typeof value !== 'string') return JSON.stringify(value ?? null)
  const isPlain = value !== '' && !value.includes('\n') && parseRuleValue(value) === value
  return isPlain ? value : JSON.stringify(value)
}
