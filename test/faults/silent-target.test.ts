import t from 'tap'
import { computeSlots } from '../../shared/checks/slots.ts'
import { IDENTIFIED } from '../support/client-process.ts'
import { startPicket } from '../support/picket.ts'
import { startTargetByProbe } from '../support/target-by-probe.ts'
import { waitFor } from '../support/wait.ts'

// takes about 120 s

const REGIONS = ['us-east', 'eu-west']
const TIMEOUT_MS = 30_000
/** Of a probe that waits for an answer. */
const SILENCE_MS = 5_000
const HOUR_MS = 3_600_000

const picket = await startPicket(t, { regions: REGIONS, probeEnv: IDENTIFIED })
const { api } = picket
const pids = picket.probes.map(({ pid }) => pid)
const target = await startTargetByProbe(t)

/** A monitor whose slots in the two regions are at least a third of the interval apart. */
async function createSpread(page: string, intervalS: number): Promise<string> {
  for (;;) {
    const body = { name: page, type: 'http', url: target.url(page), regions: REGIONS, interval_seconds: intervalS }
    const created = await api.post('/monitors', { ...body, timeout_ms: TIMEOUT_MS, retry_count: 2 })
    const { id } = created.body.data
    const [a = 0, b = 0] = REGIONS.map(region => computeSlots(id, region, intervalS).phaseMs)
    const apartMs = Math.abs(a - b)
    if (Math.min(apartMs, intervalS * 1000 - apartMs) >= intervalS * 333) return id
    await api.delete(`/monitors/${id}`)
  }
}

const readStatus = async (id: string) => (await api.get(`/monitors/${id}`)).body.data.status

type Check = { region: string; status: string; trigger: string; started_at: string; response_time_ms: number }
const getStartMs = (check: Check) => Date.parse(check.started_at)
const getEndMs = (check: Check) => getStartMs(check) + check.response_time_ms

t.test('Other regions check a hanging target while the first attempt is still silent', async t => {
  const id = await createSpread('shop', 90)
  await waitFor(async () => (await readStatus(id)) === 'up', { label: 'up' })
  // both regions have checked, and no check is running
  await waitFor(() => pids.every(pid => target.seen.some(one => one.pid === pid)), { label: 'both regions' })
  target.delay('shop', HOUR_MS)
  await waitFor(async () => (await readStatus(id)) === 'down', { label: 'down', everyMs: 200 })
  const failed = async (): Promise<Check[]> => {
    const checks: Check[] = (await api.get(`/monitors/${id}/checks?per_page=100&status=down`)).body.data
    return checks.sort((a, b) => getStartMs(a) - getStartMs(b))
  }
  const checks = await waitFor(
    async () => {
      const shown = await failed()
      return REGIONS.every(name => shown.filter(({ region }) => region === name).length >= 3) ? shown : null
    },
    { label: 'an attempt and two re-checks for each region' },
  )

  const [first] = checks
  const other = checks.find(({ region }) => region !== first!.region)!
  const laterMs = getStartMs(other) - getStartMs(first!)
  t.equal(first!.trigger, 'schedule')
  t.equal(other.trigger, 'second_opinion')
  t.ok(laterMs > SILENCE_MS - 500, `the other region checked ${laterMs} ms later, because of the silence`)
  t.ok(getStartMs(other) < getEndMs(first!), 'and before the first attempt failed')
  for (const name of REGIONS) {
    const [attempt, , last] = checks.filter(({ region }) => region === name)
    t.ok(getStartMs(last!) < getEndMs(attempt!), 'the re-checks begin before the first attempt of the region failed')
  }
  const [transition] = (await api.get(`/monitors/${id}/transitions`)).body.data
  t.match(transition, { from: 'up', to: 'down' })
})

t.test('A target that answers slowly, but in time, stays up', async t => {
  const id = await createSpread('slow', 30)
  target.delay('slow', SILENCE_MS + 2_000)
  await waitFor(async () => (await readStatus(id)) === 'up', { label: 'up' })
  const before = target.seen.length
  await waitFor(() => target.seen.length >= before + 5, { label: 'five more requests' })
  t.equal(await readStatus(id), 'up')
  const { body } = await api.get(`/monitors/${id}/checks?per_page=50`)
  t.ok(
    body.data.every((check: Check) => check.status === 'up'),
    'no attempt is recorded as failed',
  )
})
