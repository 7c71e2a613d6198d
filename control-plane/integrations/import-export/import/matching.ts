/** A key by which an entry of a file matches a record. */
export type MatchKey<Entry, Row> = { ofEntry: (entry: Entry) => string; ofRow: (row: Row) => string }

type IdentifiedRecord = { id?: string }

/**
 * Matches each entry of a file with a record: by id, else by the first key that matches an unmatched record. Several
 * records with one key match in their order. Null: no record matches (docs/design/import-export.md#matching).
 */
export function matchEntries<Entry extends IdentifiedRecord, Row extends { id: string }>(
  entries: readonly Entry[],
  rows: readonly Row[],
  ...keys: MatchKey<Entry, Row>[]
): (Row | null)[] {
  const byId = new Map(rows.map(row => [row.id, row]))
  const byTheirIds = entries.map(({ id }) => byId.get(id?.toLowerCase() ?? '') ?? null)
  return keys.reduce((found, key) => matchByKey(entries, rows, found, key), byTheirIds)
}

function matchByKey<Entry, Row>(
  entries: readonly Entry[],
  rows: readonly Row[],
  found: (Row | null)[],
  key: MatchKey<Entry, Row>,
): (Row | null)[] {
  const waiting = new Map<string, Row[]>()
  for (const row of listUnmatched(rows, found)) {
    const others = waiting.get(key.ofRow(row))
    if (others) others.push(row)
    else waiting.set(key.ofRow(row), [row])
  }
  return entries.map((entry, index) => found[index] ?? waiting.get(key.ofEntry(entry))?.shift() ?? null)
}

/** Returns the rows without a matching entry. */
export function listUnmatched<Row>(rows: readonly Row[], found: readonly (Row | null)[]): Row[] {
  const taken = new Set(found)
  return rows.filter(row => !taken.has(row))
}

/** Returns the indexes of entries with the id of an earlier entry. */
export function findRepeatedIds(entries: readonly IdentifiedRecord[]): number[] {
  const seen = new Set<string>()
  return entries.flatMap(({ id }, index) => {
    const isRepeated = id !== undefined && seen.has(id.toLowerCase())
    if (id !== undefined) seen.add(id.toLowerCase())
    return isRepeated ? [index] : []
  })
}

/** Matches by a property with the same name in entry and record. */
export const matchBy = <K extends string>(name: K): MatchKey<Record<K, string>, Record<K, string>> => ({
  ofEntry: entry => entry[name],
  ofRow: row => row[name],
})
