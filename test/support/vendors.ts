import { type Db, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { type Behaviour, startTarget, type Target } from './target.ts'
import type { Teardown } from './teardown.ts'

type VendorReport = {
  id: string
  name: string
  impact?: string
  status?: string
  components?: { name: string }[]
}

export type VendorSite = Pick<Target, 'requests' | 'close' | 'open'> & {
  /** the address of its status page */
  statusUrl: string
  /** makes these incidents the open ones; each report has a new ETag */
  report(...incidents: VendorReport[]): void
  /** makes a component the only impaired one, without incidents */
  impair(component: string): void
  /** sets the behaviour of its feed */
  behave(behaviour: Behaviour): void
  /** number of requests of its feed */
  reads(): number
}

const SUMMARY = '/api/v2/summary.json'
const STARTED_AT = new Date(Date.now() - 3_600_000).toISOString()

/** Starts a status page of a vendor on 127.0.0.1 in the format of Statuspage, without incidents. */
export async function startVendorSite(t: Teardown): Promise<VendorSite> {
  const { url, requests, behaveAt, close, open } = await startTarget(t)
  let reports = 0
  const behave = (behaviour: Behaviour) => behaveAt(SUMMARY, behaviour)
  const answer = (summary: object) =>
    behave({ kind: 'answer', headers: { etag: `"${++reports}"` }, body: JSON.stringify(summary) })
  const report = (...incidents: VendorReport[]) => answer(buildSummary(incidents))
  const impair = (name: string) =>
    answer({ ...buildSummary([]), components: [{ id: 'c', name, status: 'major_outage' }] })
  report()
  const reads = () => requests.filter(({ path }) => path === SUMMARY).length
  return { statusUrl: url, requests, close, open, report, impair, behave, reads }
}

const buildSummary = (incidents: VendorReport[]) => ({
  page: { id: 'p', name: 'Acme', url: 'https://status.acme.example' },
  status: { indicator: 'none', description: '' },
  components: [],
  incidents: incidents.map(incident => ({
    impact: 'major',
    status: 'investigating',
    started_at: STARTED_AT,
    ...incident,
  })),
  scheduled_maintenances: [],
})

type VendorEvent = { name: string; title: string; deliveries: number }

/** Returns the events of a dependency, in order. */
export function listVendorEvents(db: Db, dependencyId: string): Promise<VendorEvent[]> {
  return query(
    db,
    `SELECT name, data #>> '{incident,title}' AS title,
       (SELECT count(*) FROM deliveries d WHERE d.event_id = e.id) AS deliveries
     FROM events e WHERE subject = ? ORDER BY id`,
    [`vendor:${dependencyId}`],
  )
}

/** A body of `/dependencies` with every property of a dependency by address. */
export const dependencyBody = (alert_channel_id: string) => ({
  name: 'Acme Cloud',
  category: 'cloud',
  status_url: 'https://status.acme.example/',
  feed_type: 'json',
  feed_url: 'https://status.acme.example/incidents.json',
  feed_mapping: { incidents: 'data.incidents', title: 'name' },
  components: ['API'],
  overrides: [{ alert_channel_id, on_down: true, on_degraded: false, on_resolved: true }],
})
