import t from 'tap'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createApi } from '../support/api.ts'
import { IDENTIFIED } from '../support/client-process.ts'
import { createHourly } from '../support/hourly.ts'
import { type Picket, startPicket } from '../support/picket.ts'
import { startTargetByProbe } from '../support/target-by-probe.ts'
import { waitFor } from '../support/wait.ts'

// takes about 90 s

const REGIONS = ['us-east', 'eu-west']
const picket: Picket = await startPicket(t, { regions: REGIONS, probesPerRegion: 2, probeEnv: IDENTIFIED })
const listPids = (region: string) => picket.probes.filter(probe => probe.region === region).map(({ pid }) => pid)
const target = await startTargetByProbe(t)
const { api } = picket
const db = createPostgres(picket.databaseUrl, 2)
t.teardown(() => db.destroy())

/** A monitor of its own page that is up in both regions, and the probes that check it in each. */
async function watched(
  page: string,
  { isHourly, timeoutMs = 30_000, host }: { isHourly: boolean; timeoutMs?: number; host?: string },
) {
  const url = target.url(page, host)
  const body = { name: page, type: 'http', url, regions: REGIONS, timeout_ms: timeoutMs, retry_count: 2 }
  const id = isHourly
    ? await createHourly(api, body)
    : ((await api.post('/monitors', { ...body, interval_seconds: 30 })).body.data.id as string)
  await waitFor(async () => (await api.get(`/monitors/${id}`)).body.data.status === 'up', { label: `${page} up` })
  const [us, eu] = REGIONS.map(
    region => target.seen.find(({ path, pid }) => path === `/${page}` && listPids(region).includes(pid ?? 0))?.pid,
  )
  return { id, us: us!, eu: eu! }
}

const check = (id: string, headers = {}) => api.post(`/monitors/${id}/check`, undefined, headers)
const readTransitions = async (id: string) => (await api.get(`/monitors/${id}/transitions`)).body.data
const seenBy = (page: string, pid: number, sinceMs: number) =>
  target.seen.filter(one => one.path === `/${page}` && one.pid === pid && one.atMs >= sinceMs)

async function disagreements(): Promise<number> {
  const text = await (await fetch(`${picket.operator}/metrics`)).text()
  return Number(/^picket_verdict_disagreements_total (\d+)/m.exec(text)?.[1] ?? 0)
}

async function readState(id: string, region: string): Promise<string> {
  const [row] = await query<{ state: { cells: { region: string; state: string }[] } }>(
    db,
    'SELECT state FROM verdict_states WHERE monitor_id = ?',
    [id],
  )
  return row?.state.cells.find(cell => cell.region === region)?.state ?? 'unknown'
}

t.test('a failure that only one probe of a region sees does not make the region failing', async t => {
  const { id, us } = await watched('one-sided', { isHourly: true })
  const before = await disagreements()
  const sinceMs = Date.now()
  target.fail('one-sided', [us])
  const { body } = await check(id)
  t.match(body.data.results, [
    { region: 'us-east', status: 'down', trigger: 'run_now' },
    { region: 'eu-west', status: 'up' },
  ])
  await waitFor(async () => (await disagreements()) > before, { label: 'the disagreement' })
  const [other] = listPids('us-east').filter(pid => pid !== us)
  t.equal(seenBy('one-sided', other!, sinceMs).length, 1, 'the other probe looked once')
  t.equal(seenBy('one-sided', us, sinceMs).length, 3, 'the first one had its re-checks')
  t.equal(await readState(id, 'us-east'), 'ok')
  t.same(
    (await readTransitions(id)).map(({ to }: { to: string }) => to),
    ['up'],
  )
  const triggersIn = async () => {
    const { data } = (await api.get(`/monitors/${id}/checks?region=us-east`)).body
    return data.map(({ trigger, status }: { trigger: string; status: string }) => `${trigger} ${status}`)
  }
  const expected = ['run_now down', 'run_now down', 'run_now down', 'schedule up', 'second_opinion up']
  const triggers = await waitFor(
    async () => {
      const seen: string[] = await triggersIn()
      return seen.length >= expected.length ? seen.sort() : null
    },
    { label: 'the attempts and the opinion in the history' },
  )
  t.same(triggers, expected)

  target.fail('one-sided', 'all')
  await check(id)
  await waitFor(async () => (await readTransitions(id))[0].to === 'down', { label: 'down' })
  t.pass('it goes down with the next checks when the other probe fails too')
})

t.test('an outage is decided as fast as with one probe for each region', async t => {
  // an opinion that does not arrive is waited for until the timeout and 10 s have passed
  const timeoutMs = 60_000
  const { id } = await watched('dead', { isHourly: true, timeoutMs })
  target.fail('dead', 'all')
  const startedMs = Date.now()
  await check(id)
  const down = await waitFor(async () => (await readTransitions(id)).find(({ to }: { to: string }) => to === 'down'), {
    label: 'down',
  })
  const tookMs = Date.parse(down.at) - startedMs
  t.ok(tookMs > 3_900, `re-checks take 4 s, all of it took ${tookMs} ms`)
  const lastMs = Math.max(...target.seen.filter(one => one.path === '/dead').map(({ atMs }) => atMs))
  const afterwardsMs = Date.parse(down.at) - lastMs
  t.ok(afterwardsMs < timeoutMs, `decided ${afterwardsMs} ms after the last attempt`)
  t.same(down.from, 'up', 'without a degraded in between')
})

t.test('a probe that disagrees often is drained with an operator incident, and works again when undrained', async t => {
  const { api_key: key } = JSON.parse(await picket.admin('operator', 'create', '--email', 'operator@example.com'))
  const operator = createApi(picket.origin, key)
  const pages = Array.from({ length: 12 }, (_, i) => `blocked-${i}`)
  // each on a host of its own: a single host may refuse a probe by its firewall
  const monitors = await Promise.all(
    pages.map((page, i) => watched(page, { isHourly: true, host: `127.0.0.${10 + i}` })),
  )
  const [one, two] = listPids('us-east').map(pid => ({ pid, count: monitors.filter(({ us }) => us === pid).length }))
  const liar = one!.count > two!.count ? one! : two!
  const name = `us-east-${picket.probes.findIndex(({ pid }) => pid === liar.pid) + 1}`
  type Listed = { id: string; name: string; load: { assignments: number }; [field: string]: unknown }
  const probes = async (): Promise<Listed[]> => (await operator.get('/probes?region=us-east')).body.data
  const probe = async () => (await probes()).find(listed => listed.name === name)!

  for (const page of pages) target.fail(page, [liar.pid])
  await Promise.all(monitors.map(({ id }) => check(id)))
  const drained = await waitFor(
    async () => {
      const now = await probe()
      return now.draining === null || now.live || now.load.assignments > 0 ? null : now
    },
    { label: 'the drain' },
  )
  t.match(drained, { draining: 'disagrees often', connected_since: /^2/ })
  await waitFor(async () => (await probes()).some(({ load }) => load.assignments >= pages.length), {
    label: 'all work at the other probe',
  })
  const incident = async () => (await operator.get('/incidents')).body.data[0]
  t.match(await incident(), {
    title: `Probe ${name} of us-east is drained: it disagrees often`,
    status: 'investigating',
  })
  for (const { id } of monitors) {
    const [last, ...before] = await readTransitions(id)
    t.same(before, [], `the last change of monitor ${id}: to ${last.to}, ${last.summary}`)
  }

  await picket.admin('probe', 'undrain', drained.id)
  await waitFor(async () => (await probe()).load.assignments > 0, { label: 'work again' })
  await waitFor(async () => (await incident()).status === 'resolved', { label: 'the end' })
})

t.test('an outage of NATS loses hints and blocks nothing: results wait, and decide when it is back', async t => {
  const { id, us, eu } = await watched('cut-off', { isHourly: false, timeoutMs: 5_000 })
  const sinceMs = Date.now()
  await picket.nats.stop()
  target.fail('cut-off', 'all')
  await waitFor(() => [us, eu].some(pid => seenBy('cut-off', pid, sinceMs).length >= 3), {
    label: 'the re-checks of a region',
  })
  await picket.nats.restart()
  await waitFor(async () => (await readTransitions(id))[0].to === 'down', { label: 'down' })
  // each region reports when its probe has connected again, so one of the two may be failing alone for a moment
  const outcome = (await readTransitions(id))
    .map(({ to }: { to: string }) => to)
    .filter((to: string) => to !== 'degraded')
  t.same(outcome, ['down', 'up'])
})
