import t from 'tap'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createApi } from '../support/api.ts'
import { IDENTIFIED } from '../support/client-process.ts'
import { startPicket } from '../support/picket.ts'
import { startTargetByProbe } from '../support/target-by-probe.ts'
import { waitFor } from '../support/wait.ts'

// takes about 70 s

const INTERVAL_MS = 30_000
const FOR_A_BUSY_MACHINE_MS = 10_000
const picket = await startPicket(t, { regions: ['us-east', 'eu-west'], probesPerRegion: 2, probeEnv: IDENTIFIED })
const db = createPostgres(picket.databaseUrl, 2)
t.teardown(() => db.destroy())
const target = await startTargetByProbe(t)
const pages = Array.from({ length: 10 }, (_, i) => `page-${i}`)
const probesOf = (region: string) => picket.probes.filter(probe => probe.region === region)
const seenBy = (page: string, pid: number | undefined) =>
  target.seen.filter(one => one.path === `/${page}` && one.pid === pid).map(({ atMs }) => atMs)

const regions = ['us-east', 'eu-west']
const ids = new Map<string, string>()
for (const name of pages) {
  const body = { name, type: 'http', url: target.url(name), regions, interval_seconds: INTERVAL_MS / 1_000 }
  ids.set(name, (await picket.api.post('/monitors', body)).body.data.id)
}
// a result that is not published yet would be lost with its probe
const recorded = async (page: string, region: string): Promise<boolean> =>
  (await picket.api.get(`/monitors/${ids.get(page)}/checks?region=${region}`)).body.data.length > 0
for (const page of pages) {
  for (const region of regions) {
    await waitFor(() => recorded(page, region), { label: `the first result of ${page} in ${region}` })
  }
}
const { api_key: key } = JSON.parse(await picket.admin('operator', 'create', '--email', 'operator@example.com'))
const operator = createApi(picket.origin, key)

/**
 * The longest time between two slots of each moved page, in intervals: 1 when none was missed. The scheduled times
 * count, not the actual times on a busy machine.
 */
async function gaps(region: string, left: number, heir: number): Promise<number[]> {
  const moved = pages.filter(page => seenBy(page, left).length > 0)
  await waitFor(() => moved.every(page => seenBy(page, heir).length > 0), { label: 'checks of what moved' })
  return Promise.all(moved.map(page => longestGap(page, region)))
}

async function longestGap(page: string, region: string): Promise<number> {
  type Shown = { probe_id: string; scheduled_at: string }
  const path = `/monitors/${ids.get(page)}/checks?per_page=100&region=${region}`
  const shown: Shown[] = await waitFor(
    async () => {
      const { data } = (await picket.api.get(path)).body
      return new Set(data.map(({ probe_id }: Shown) => probe_id)).size > 1 ? data : null
    },
    { label: `checks of ${page} by both probes` },
  )
  const slots = [...new Set(shown.map(({ scheduled_at }) => Date.parse(scheduled_at)))].sort((a, b) => a - b)
  return Math.max(...slots.slice(1).map((slot, i) => slot - slots[i]!)) / INTERVAL_MS
}

const [killed, survivor] = probesOf('us-east')
const [stopped, heir] = probesOf('eu-west')
const [killedPid, stoppedPid] = [killed!.pid, stopped!.pid]
const killedMs = Date.now()
await killed!.kill9()
const stopping = stopped!.stop()

t.test('The monitors of a killed probe are moved within 15 s, and at most one slot of each is missed', async t => {
  const loads = async () => (await operator.get('/probes?region=us-east')).body.data
  await waitFor(
    async () => (await loads()).some((probe: { load: { assignments: number } }) => probe.load.assignments === 10),
    { label: 'all work at the survivor' },
  )
  const sql = `SELECT updated_at AS at FROM region_epochs WHERE region = 'us-east'`
  const movedMs = (await query<{ at: Date }>(db, sql))[0]!.at.getTime() - killedMs
  t.comment(`moved ${(movedMs / 1_000).toFixed(1)} s after the kill`)
  t.ok(movedMs < 15_000 + FOR_A_BUSY_MACHINE_MS, `moved ${movedMs} ms after the kill`)
  const between = await gaps('us-east', killedPid, survivor!.pid)
  t.comment(`gaps of ${between.map(gap => gap.toFixed(1)).join(', ')} intervals`)
  t.ok(between.every(gap => gap <= 2))
  const statuses = async (): Promise<string[]> =>
    (await picket.api.get('/monitors')).body.data.map(({ status }: { status: string }) => status)
  await waitFor(async () => (await statuses()).every(status => status === 'up'), { label: 'up' })
})

t.test('A probe that is stopped hands its monitors over, and no slot is missed', async t => {
  const between = await gaps('eu-west', stoppedPid, heir!.pid)
  t.equal(await stopping, 0)
  t.comment(`gaps of ${between.map(gap => gap.toFixed(1)).join(', ')} intervals`)
  // only a slot exactly in between may be missed
  t.ok(between.filter(gap => gap > 1).length <= 1)
  t.ok(between.every(gap => gap <= 2))
})
