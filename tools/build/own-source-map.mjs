import { decode, encode } from '@jridgewell/sourcemap-codec'

/**
 * Removes the positions in npm packages from a source map (JSON), because Node keeps source maps in memory and decodes them
 * at the first error: packages are three quarters of a bundle.
 */
export function keepOwnSources(json) {
  const map = JSON.parse(json)
  const kept = map.sources.filter(isOwn)
  const indexes = map.sources.map(source => kept.indexOf(source))
  const mappings = encode(decode(map.mappings).map(line => keepOwnSegments(line, indexes)))
  return JSON.stringify({ version: 3, sources: kept, names: [], mappings })
}

const isOwn = source => !source.includes('node_modules/')

/** Segments are [column] or [column, source, line, column of the source]; one with a column only ends the segment before. */
function keepOwnSegments(line, indexes) {
  const kept = []
  for (const [column, source, sourceLine, sourceColumn] of line) {
    const index = source === undefined ? -1 : indexes[source]
    if (index !== -1) kept.push([column, index, sourceLine, sourceColumn])
    else if (kept.at(-1)?.length === 4) kept.push([column])
  }
  return kept
}
