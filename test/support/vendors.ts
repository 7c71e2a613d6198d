import { type Db, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { type Behaviour, startTarget, type Target } from './target.ts'
import type { Teardown } from './teardown.ts'

export type VendorReport = {
  id: string
  name: string
  impact?: string
  status?: string
  components?: { name: string }[]
}

export type VendorSite = Pick<Target, 'requests' | 'close' | 'open'> & {
  /** what people give as its address */
  statusUrl: string
  /** from now on these incidents are open, with an etag for each report */
  report(...incidents: VendorReport[]): void
  /** what it does with whoever asks for its feed */
  behave(behaviour: Behaviour): void
  /** how often its feed was asked for */
  reads(): number
}

const SUMMARY = '/api/v2/summary.json'
const STARTED_AT = new Date(Date.now() - 3_600_000).toISOString()

/** The status page of a vendor on 127.0.0.1, in the shape of a Statuspage, where nothing is wrong at first. */
export async function startVendorSite(t: Teardown): Promise<VendorSite> {
  const { url, requests, behaveAt, close, open } = await startTarget(t)
  let reports = 0
  const behave = (behaviour: Behaviour) => behaveAt(SUMMARY, behaviour)
  const report = (...incidents: VendorReport[]) =>
    behave({ kind: 'answer', headers: { etag: `"${++reports}"` }, body: JSON.stringify(summaryOf(incidents)) })
  report()
  const reads = () => requests.filter(({ path }) => path === SUMMARY).length
  return { statusUrl: url, requests, close, open, report, behave, reads }
}

const summaryOf = (incidents: VendorReport[]) => ({
  page: { id: 'p', name: 'Acme', url: 'https://status.acme.example' },
  status: { indicator: 'none', description: '' },
  components: [],
  incidents: incidents.map(one => ({ impact: 'major', status: 'investigating', started_at: STARTED_AT, ...one })),
  scheduled_maintenances: [],
})

export type StoredVendorEvent = { name: string; title: string; deliveries: number }

/** What was told of a dependency, in order. */
export function listVendorEvents(db: Db, dependencyId: string): Promise<StoredVendorEvent[]> {
  return query(
    db,
    `SELECT name, data #>> '{incident,title}' AS title,
       (SELECT count(*) FROM deliveries d WHERE d.event_id = e.id) AS deliveries
     FROM events e WHERE subject = ? ORDER BY id`,
    [`vendor:${dependencyId}`],
  )
}

/** A body of `/dependencies` with every property that an address of one's own takes. */
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
