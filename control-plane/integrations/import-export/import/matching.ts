/** What an entry of a file and a record have in common when they are the same. */
export type MatchKey<Entry, Row> = { ofEntry: (entry: Entry) => string; ofRow: (row: Row) => string }

type Identified = { id?: string }

/**
 * Which record each entry of a file is: the one with its id; else the one with its key, by the first key that says so,
 * that no other entry is. Of several with one key the first entry is the first record, and so on. Null: there is none yet.
 */
export function matchEntries<Entry extends Identified, Row extends { id: string }>(
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

/** The rows that no entry is. */
export function listUnmatched<Row>(rows: readonly Row[], found: readonly (Row | null)[]): Row[] {
  const taken = new Set(found)
  return rows.filter(row => !taken.has(row))
}

/** Places of entries in a list whose id an earlier one has. */
export function findRepeatedIds(entries: readonly Identified[]): number[] {
  const seen = new Set<string>()
  return entries.flatMap(({ id }, index) => {
    const isRepeated = id !== undefined && seen.has(id.toLowerCase())
    if (id !== undefined) seen.add(id.toLowerCase())
    return isRepeated ? [index] : []
  })
}

/** By a property that both have under one name. */
export const matchBy = <K extends string>(name: K): MatchKey<Record<K, string>, Record<K, string>> => ({
  ofEntry: entry => entry[name],
  ofRow: row => row[name],
})
