/** A list of tags as the text of a field: `production, "a, b"`. Only what would be read differently is in quotes. */
export const formatTags = (tags: readonly string[]): string =>
  tags.map(tag => (/^\s|\s$|,|^"|^$/.test(tag) ? `"${tag.replaceAll('"', '""')}"` : tag)).join(', ')

/** The tags in the text of a field, separated by commas. A tag in quotes may contain commas; `""` in it is a quote. */
export function parseTags(text: string): string[] {
  const parts = text.match(/\s*"(?:[^"]|"")*"\s*(?=,|$)|[^,]+/g) ?? []
  const tags = parts.map(part => {
    const [, quoted] = /^\s*"((?:[^"]|"")*)"\s*$/.exec(part) ?? []
    return quoted === undefined ? part.trim() : quoted.replaceAll('""', '"')
  })
  return [...new Set(tags)].filter(tag => tag !== '')
}
