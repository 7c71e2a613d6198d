import t from 'tap'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { FLEET_TIMING } from '../../control-plane/monitoring/fleet/timing.ts'
import { computeSlots } from '../../shared/checks/slots.ts'
import { createApi } from '../support/api.ts'
import { IDENTIFIED } from '../support/client-process.ts'
import { startPicket } from '../support/picket.ts'
import { startTargetByProbe } from '../support/target-by-probe.ts'
import { type CheckTimes, findUncheckedSlots } from '../support/unchecked-slots.ts'
import { waitFor } from '../support/wait.ts'

// takes about 70 s

const INTERVAL_S = 30
/** The time from a slot to its stored result, on a slow machine. */
const IN_FLIGHT_MS = 10_000
/** Between the new live set and its arrival at both probes, on a slow machine. */
const HAND_OVER_MS = 5_000
/** From the silence of a probe to the move of its work; a limit that only a hang reaches. */
const MAX_MOVE_MS = 60_000
const picket = await startPicket(t, { regions: ['us-east', 'eu-west'], probesPerRegion: 2, probeEnv: IDENTIFIED })
const db = createPostgres(picket.databaseUrl, 2)
t.teardown(() => db.destroy())
const target = await startTargetByProbe(t)
const pages = Array.from({ length: 10 }, (_, i) => `page-${i}`)
const listProbes = (region: string) => picket.probes.filter(probe => probe.region === region)
const seenBy = (page: string, pid: number | undefined) =>
  target.seen.filter(one => one.path === `/${page}` && one.pid === pid).map(({ atMs }) => atMs)

const regions = ['us-east', 'eu-west']
const ids = new Map<string, string>()
for (const name of pages) {
  const body = { name, type: 'http', url: target.url(name), regions, interval_seconds: INTERVAL_S }
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

type Shown = CheckTimes & { probe_id: string }

/** The checks of a page in a region, when both probes have made some. */
async function waitForChecks(page: string, region: string): Promise<Shown[]> {
  const path = `/monitors/${ids.get(page)}/checks?per_page=100&region=${region}`
  return waitFor(
    async () => {
      const data: Shown[] = (await picket.api.get(path)).body.data
      return new Set(data.map(({ probe_id }) => probe_id)).size > 1 ? data : null
    },
    { label: `checks of ${page} by both probes` },
  )
}

/**
 * The slots without a check of all pages that moved from the probe `left`, and the time of the first check by the probe that
 * got them. Slots count, not the actual times on a busy machine.
 */
async function followMove(region: string, left: number, heir: number) {
  const moved = pages.filter(page => seenBy(page, left).length > 0)
  await waitFor(() => moved.every(page => seenBy(page, heir).length > 0), { label: 'checks of what moved' })
  const missed = new Map<string, number[]>()
  for (const page of moved) {
    const slots = computeSlots(ids.get(page)!, region, INTERVAL_S)
    missed.set(page, findUncheckedSlots(slots, await waitForChecks(page, region)))
  }
  return { missed: [...missed.values()], heirFromMs: Math.min(...moved.map(page => seenBy(page, heir)[0]!)) }
}

/** When the work of a region moved, and when its probes that left it sent their last message. */
async function readMove(region: string): Promise<{ movedMs: number; silentMs: number }> {
  const [row] = await query<{ at: Date; lastSeenAt: Date }>(
    db,
    `SELECT e.updated_at AS at, (SELECT max(p.last_seen_at) FROM probes p
       WHERE p.region = e.region AND p.id <> ALL (e.probe_ids)) AS "lastSeenAt"
     FROM region_epochs e WHERE e.region = ?`,
    [region],
  )
  return { movedMs: row!.at.getTime(), silentMs: row!.at.getTime() - row!.lastSeenAt.getTime() }
}

const [killed, survivor] = listProbes('us-east')
const [stopped, heir] = listProbes('eu-west')
const [killedPid, stoppedPid] = [killed!.pid, stopped!.pid]
const killedMs = Date.now()
await killed!.kill9()
const stopping = stopped!.stop()

t.test(
  'The monitors of a killed probe are moved when it was silent for 10 s, and only slots of that time are missed',
  async t => {
    const loads = async () => (await operator.get('/probes?region=us-east')).body.data
    await waitFor(
      async () => (await loads()).some((probe: { load: { assignments: number } }) => probe.load.assignments === 10),
      { label: 'all work at the survivor' },
    )
    const { movedMs, silentMs } = await readMove('us-east')
    t.comment(`moved ${(movedMs - killedMs) / 1_000} s after the kill, after a silence of ${silentMs / 1_000} s`)
    t.ok(silentMs >= FLEET_TIMING.deadAfterMs - 1_000, `not before a silence of 10 s: ${silentMs} ms`)
    t.ok(silentMs < MAX_MOVE_MS, `moved after a silence of ${silentMs} ms`)
    const { missed, heirFromMs } = await followMove('us-east', killedPid, survivor!.pid)
    t.comment(`missed slots: ${missed.map(slots => slots.length).join(', ')}`)
    const [fromMs, toMs] = [killedMs - IN_FLIGHT_MS, Math.max(movedMs, heirFromMs)]
    for (const slots of missed) {
      t.same(
        slots.filter(slot => slot < fromMs || slot > toMs),
        [],
        'each slot before the kill and after the move is checked',
      )
    }
    const statuses = async (): Promise<string[]> =>
      (await picket.api.get('/monitors')).body.data.map(({ status }: { status: string }) => status)
    await waitFor(async () => (await statuses()).every(status => status === 'up'), { label: 'up' })
  },
)

t.test('A probe that is stopped hands its monitors over, and no slot is missed', async t => {
  const { missed } = await followMove('eu-west', stoppedPid, heir!.pid)
  t.equal(await stopping, 0)
  const { movedMs } = await readMove('eu-west')
  t.comment(`missed slots: ${missed.map(slots => slots.length).join(', ')}`)
  // only a slot exactly in between may be missed
  t.same(
    missed.flat().filter(slot => slot < movedMs - HAND_OVER_MS || slot > movedMs + HAND_OVER_MS),
    [],
  )
})
