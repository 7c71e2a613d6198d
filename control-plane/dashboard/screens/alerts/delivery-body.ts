/** A body as a reader wants it: JSON with line breaks, any other text as it is. */
export function formatBody(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
