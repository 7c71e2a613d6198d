import type { BoardRow } from './board-row.ts'

/** What monitors in trouble have in common. `error`: the text of the cause. */
export type CauseName = { kind: 'host' | 'region' | 'error'; value: string }

/** Monitors in trouble with a common cause; null: monitors that have none. */
export type CauseGroup = { cause: CauseName | null; rows: BoardRow[] }

/** In the order in which they are chosen when they explain the same number of monitors. */
const KINDS: readonly CauseName['kind'][] = ['host', 'region', 'error']
const MIN_ROWS = 2

/**
 * Groups monitors in trouble by what most of them have in common: the host, the only region that fails, or the error. The
 * cause of most monitors is taken first, then that of most of the others. Each monitor is in exactly one group; those without
 * a common cause are in the last one. Groups and rows keep the order of `rows`, by their first row. `hosts`: by the id of the
 * monitor, where known.
 */
export function groupByCause(rows: readonly BoardRow[], hosts: ReadonlyMap<string, string>): CauseGroup[] {
  const groups: { cause: CauseName; rows: BoardRow[] }[] = []
  let left = [...rows]
  for (;;) {
    const largest = findLargest(left, hosts)
    if (!largest) break
    groups.push(largest)
    const members = new Set(largest.rows)
    left = left.filter(row => !members.has(row))
  }
  const at = (group: CauseGroup) => rows.indexOf(group.rows[0]!)
  const sorted: CauseGroup[] = groups.sort((a, b) => at(a) - at(b))
  return left.length === 0 ? sorted : [...sorted, { cause: null, rows: left }]
}

function findLargest(rows: readonly BoardRow[], hosts: ReadonlyMap<string, string>) {
  const byCause = new Map<string, { cause: CauseName; rows: BoardRow[] }>()
  for (const row of rows)
    for (const cause of listCauses(row, hosts.get(row.id))) {
      const key = `${cause.kind} ${cause.value}`
      const group = byCause.get(key)
      if (group) group.rows.push(row)
      else byCause.set(key, { cause, rows: [row] })
    }
  const [largest] = [...byCause.values()]
    .filter(group => group.rows.length >= MIN_ROWS)
    .sort((a, b) => b.rows.length - a.rows.length || KINDS.indexOf(a.cause.kind) - KINDS.indexOf(b.cause.kind))
  return largest ?? null
}

function listCauses({ bars, cause }: BoardRow, host: string | undefined): CauseName[] {
  const failing = bars.filter(({ state }) => state === 'failing')
  // a monitor with one region only says nothing about the region
  const isRegional = failing.length === 1 && bars.length > 1
  return [
    ...(host === undefined ? [] : [{ kind: 'host' as const, value: host }]),
    ...(isRegional ? [{ kind: 'region' as const, value: failing[0]!.name }] : []),
    ...(cause === null ? [] : [{ kind: 'error' as const, value: cause }]),
  ]
}

/** The host of an address as monitors have it: a URL, `host:port`, or a host. Null without one. */
export function parseHost(address: string | null): string | null {
  const [, bracketed, host] =
    /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^@/?#]*@)?(?:\[([^\]]+)\]|([^/:?#]+))/i.exec(address ?? '') ?? []
  return (bracketed ?? host)?.toLowerCase() ?? null
}
