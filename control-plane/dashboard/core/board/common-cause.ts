import type { BoardRow } from './board-row.ts'
import type { ParentOutage } from './parent-outages.ts'

/**
 * What monitors in trouble have in common. `error`: the text of the cause. `id`: of the monitor that is down or of the
 * dependency on a vendor; null for a text.
 */
export type CauseName = { kind: 'parent' | 'vendor' | 'host' | 'region' | 'error'; value: string; id: string | null }

/** Monitors in trouble with a common cause; null: monitors that have none. */
export type CauseGroup = { cause: CauseName | null; rows: BoardRow[] }

/** What is known of monitors in addition to their rows, by their ids. */
type KnownCauses = {
  hosts: ReadonlyMap<string, string>
  /** the parents that are down */
  parents: Readonly<Record<string, readonly ParentOutage[]>>
  /** dependencies with an open incident, and the domains of their vendors */
  vendors: readonly { id: string; name: string; domain: string }[]
}

/**
 * In the order in which they are chosen when they explain the same number of monitors. People have said what a monitor depends
 * on, so the outage of a parent comes before all others, whatever their numbers.
 */
const KINDS: readonly CauseName['kind'][] = ['parent', 'vendor', 'host', 'region', 'error']
const MIN_ROWS = 2

/**
 * Groups monitors in trouble by what they have in common: a parent that is down, then what most of them share: an incident of a
 * vendor, the host, the only region that fails, or the error. The cause of most monitors is taken first, then that of most of the
 * others. Each monitor is in exactly one group; those without a common cause are in the last one. Groups and rows keep the order
 * of `rows`, by their first row.
 */
export function groupByCause(rows: readonly BoardRow[], known: KnownCauses): CauseGroup[] {
  const groups: { cause: CauseName; rows: BoardRow[] }[] = []
  const listCauses = createCauseLister(known)
  let left = [...rows]
  for (;;) {
    const largest = findLargest(left, listCauses)
    if (!largest) break
    groups.push(largest)
    const members = new Set(largest.rows)
    left = left.filter(row => !members.has(row))
  }
  const at = (group: CauseGroup) => rows.indexOf(group.rows[0]!)
  const sorted: CauseGroup[] = groups.sort((a, b) => at(a) - at(b))
  return left.length === 0 ? sorted : [...sorted, { cause: null, rows: left }]
}

function findLargest(rows: readonly BoardRow[], listCauses: (row: BoardRow) => CauseName[]) {
  const byCause = new Map<string, { cause: CauseName; rows: BoardRow[] }>()
  for (const row of rows)
    for (const cause of listCauses(row)) {
      const key = `${cause.kind} ${cause.id ?? cause.value}`
      const group = byCause.get(key)
      if (group) group.rows.push(row)
      else byCause.set(key, { cause, rows: [row] })
    }
  const isParent = ({ cause }: { cause: CauseName }) => Number(cause.kind === 'parent')
  const [largest] = [...byCause.values()]
    .filter(group => group.rows.length >= MIN_ROWS)
    .sort(
      (a, b) =>
        isParent(b) - isParent(a) ||
        b.rows.length - a.rows.length ||
        KINDS.indexOf(a.cause.kind) - KINDS.indexOf(b.cause.kind),
    )
  return largest ?? null
}

function createCauseLister({ hosts, parents, vendors }: KnownCauses): (row: BoardRow) => CauseName[] {
  // a parent that is down is in the group of its own outage
  const down = new Map(Object.values(parents).flatMap(outages => outages.map(outage => [outage.id, outage])))
  return row => {
    const { id, bars, cause } = row
    const own = down.get(id)
    const outages = own ? [own] : (parents[id] ?? [])
    const host = hosts.get(id)
    const failing = bars.filter(({ state }) => state === 'failing')
    // a monitor with one region only says nothing about the region
    const isRegional = failing.length === 1 && bars.length > 1
    return [
      ...outages.map(({ id, name }) => ({ kind: 'parent' as const, value: name, id })),
      ...vendors
        .filter(({ domain }) => host === domain || host?.endsWith(`.${domain}`))
        .map(({ id, name }) => ({ kind: 'vendor' as const, value: name, id })),
      ...(host === undefined ? [] : [{ kind: 'host' as const, value: host, id: null }]),
      ...(isRegional ? [{ kind: 'region' as const, value: failing[0]!.name, id: null }] : []),
      ...(cause === null ? [] : [{ kind: 'error' as const, value: cause, id: null }]),
    ]
  }
}

/**
 * The domain of a vendor's services, derived from the address of its status page: that of `https://status.adyen.com` is
 * `adyen.com`. Null for other addresses, because `githubstatus.com` says nothing about the hosts of GitHub, and for vendors that are
 * not of the catalog, whose page can be at a host of another company.
 */
export function findVendorDomain({
  slug,
  status_url: url,
}: {
  slug: string | null
  status_url: string
}): string | null {
  const [, domain] = /^status\.(.+\..+)$/.exec(parseHost(url) ?? '') ?? []
  return slug === null ? null : (domain ?? null)
}

/** The host of an address as monitors have it: a URL, `host:port`, or a host. Null without one. */
export function parseHost(address: string | null): string | null {
  const [, bracketed, host] =
    /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^@/?#]*@)?(?:\[([^\]]+)\]|([^/:?#]+))/i.exec(address ?? '') ?? []
  return (bracketed ?? host)?.toLowerCase() ?? null
}
