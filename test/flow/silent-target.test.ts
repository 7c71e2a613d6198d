import t from 'tap'
import { computeSlots } from '../../shared/checks/slots.ts'
import { IDENTIFIED } from '../support/client-process.ts'
import { startPicket } from '../support/picket.ts'
import { startTargetByProbe } from '../support/target-by-probe.ts'
import { waitFor } from '../support/wait.ts'

// takes about 60 s

const REGIONS = ['us-east', 'eu-west']
const INTERVAL_S = 30
const TIMEOUT_MS = 6_000
const SILENCE_MS = TIMEOUT_MS / 3
const HOUR_MS = 3_600_000

const picket = await startPicket(t, { regions: REGIONS, probeEnv: IDENTIFIED })
const { api } = picket
const pids = picket.probes.map(({ pid }) => pid)
const target = await startTargetByProbe(t)

/** A monitor whose slots in the two regions are at least 10 s apart. */
async function createSpread(page: string): Promise<string> {
  for (;;) {
    const body = { name: page, type: 'http', url: target.url(page), regions: REGIONS, interval_seconds: INTERVAL_S }
    const created = await api.post('/monitors', { ...body, timeout_ms: TIMEOUT_MS, retry_count: 2 })
    const { id } = created.body.data
    const [a = 0, b = 0] = REGIONS.map(region => computeSlots(id, region, INTERVAL_S).phaseMs)
    const apartMs = Math.abs(a - b)
    if (Math.min(apartMs, INTERVAL_S * 1000 - apartMs) >= 10_000) return id
    await api.delete(`/monitors/${id}`)
  }
}

const statusOf = async (id: string) => (await api.get(`/monitors/${id}`)).body.data.status

t.test('Other regions check a hanging target while the first attempt is still silent', async t => {
  const id = await createSpread('shop')
  await waitFor(async () => (await statusOf(id)) === 'up', { label: 'up' })
  // both regions have checked, and no check is running
  await waitFor(() => pids.every(pid => target.seen.some(one => one.pid === pid)), { label: 'both regions' })
  target.delay('shop', HOUR_MS)
  const brokenMs = Date.now()
  await waitFor(async () => (await statusOf(id)) === 'down', { label: 'down', everyMs: 200 })

  const requests = target.seen.filter(({ path, atMs }) => path === '/shop' && atMs > brokenMs)
  const [first] = requests
  const other = requests.find(({ pid }) => pid !== first!.pid)
  const laterMs = other!.atMs - first!.atMs
  t.ok(laterMs > SILENCE_MS - 500, `the other region checked ${laterMs} ms later, because of the silence`)
  t.ok(laterMs < TIMEOUT_MS, 'and before the first attempt failed')
  for (const pid of pids) {
    const starts = requests.filter(one => one.pid === pid).map(({ atMs }) => atMs)
    t.equal(starts.length, 3, 'an attempt and two re-checks for each region')
    t.ok(starts[2]! - starts[0]! < TIMEOUT_MS + SILENCE_MS, 'which overlap')
  }
  const [transition] = (await api.get(`/monitors/${id}/transitions`)).body.data
  t.match(transition, { from: 'up', to: 'down' })
})

t.test('A target that answers slowly, but in time, stays up', async t => {
  const id = await createSpread('slow')
  target.delay('slow', TIMEOUT_MS * 0.7)
  await waitFor(async () => (await statusOf(id)) === 'up', { label: 'up' })
  const before = target.seen.length
  await waitFor(() => target.seen.length >= before + 5, { label: 'five more requests' })
  t.equal(await statusOf(id), 'up')
  const { body } = await api.get(`/monitors/${id}/checks?per_page=50`)
  t.ok(
    body.data.every((check: { status: string }) => check.status === 'up'),
    'no attempt is recorded as failed',
  )
})
