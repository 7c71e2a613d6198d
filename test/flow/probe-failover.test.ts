import t from 'tap'
import { createApi } from '../support/api.ts'
import { startPicket } from '../support/picket.ts'
import { startTargetByProbe } from '../support/target-by-probe.ts'
import { waitFor } from '../support/wait.ts'

// takes about 45 s

const INTERVAL_MS = 30_000
const picket = await startPicket(t, { regions: ['us-east', 'eu-west'], probesPerRegion: 2 })
const target = await startTargetByProbe(t, () => picket.probes.map(({ pid }) => pid))
const pages = Array.from({ length: 10 }, (_, i) => `page-${i}`)
const probesOf = (region: string) => picket.probes.filter(probe => probe.region === region)
const seenBy = (page: string, pid: number | undefined) =>
  target.seen.filter(one => one.path === `/${page}` && one.pid === pid).map(({ atMs }) => atMs)

const regions = ['us-east', 'eu-west']
for (const name of pages) {
  const body = { name, type: 'http', url: target.url(name), regions, interval_seconds: INTERVAL_MS / 1_000 }
  await picket.api.post('/monitors', body)
}
await waitFor(() => target.seen.length >= 2 * pages.length, { label: 'the first checks' })
const { api_key: key } = JSON.parse(await picket.admin('operator', 'create', '--email', 'operator@example.com'))
const operator = createApi(picket.origin, key)

/** From the last check of the one that left to the first of the other one, for each page that moved; in ms. */
async function gaps(left: number, heir: number): Promise<number[]> {
  const moved = pages.filter(page => seenBy(page, left).length > 0)
  await waitFor(() => moved.every(page => seenBy(page, heir).length > 0), {
    label: 'checks of what moved',
  })
  return moved.map(page => Math.min(...seenBy(page, heir)) - Math.max(...seenBy(page, left)))
}

const [killed, survivor] = probesOf('us-east')
const [stopped, heir] = probesOf('eu-west')
const [killedPid, stoppedPid] = [killed!.pid, stopped!.pid]
const startedMs = performance.now()
await killed!.kill9()
const stopping = stopped!.stop()

t.test('the monitors of a probe that dies are moved within 15 s: at most one slot of each is missed', async t => {
  const loads = async () => (await operator.get('/probes?region=us-east')).body.data
  await waitFor(
    async () => (await loads()).some((probe: { load: { assignments: number } }) => probe.load.assignments === 10),
    { label: 'all work at the survivor' },
  )
  const movedMs = performance.now() - startedMs
  t.ok(movedMs < 30_000, `known to be moved ${(movedMs / 1_000).toFixed(1)} s after the kill`)
  const between = await gaps(killedPid, survivor!.pid)
  t.comment(`gaps of ${between.map(gapMs => (gapMs / 1_000).toFixed(1)).join(', ')} s`)
  t.ok(between.every(gapMs => gapMs < 2.5 * INTERVAL_MS))
  const statuses = async (): Promise<string[]> =>
    (await picket.api.get('/monitors')).body.data.map(({ status }: { status: string }) => status)
  await waitFor(async () => (await statuses()).every(status => status === 'up'), { label: 'up' })
})

t.test('a probe that is asked to stop hands its work over: no slot of its monitors is missed', async t => {
  const between = await gaps(stoppedPid, heir!.pid)
  t.equal(await stopping, 0)
  t.comment(`gaps of ${between.map(gapMs => (gapMs / 1_000).toFixed(1)).join(', ')} s`)
  // a slot that comes in the very moment in between is the one that may be
  t.ok(between.filter(gapMs => gapMs > 1.5 * INTERVAL_MS).length <= 1)
  t.ok(between.every(gapMs => gapMs < 2.5 * INTERVAL_MS))
})
