import { randomBytes } from 'node:crypto'
import t from 'tap'
import { createApiKey } from '../../control-plane/accounts/api-keys/actions.ts'
import { createPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createCanaries } from '../../control-plane/insight/canaries/actions.ts'
import { computeNextStart, isFailing } from '../../control-plane/insight/canaries/schedule.ts'
import { findCanaryProject } from '../../control-plane/insight/canaries/store.ts'
import { createApi } from '../support/api.ts'
import { canaryTools } from '../support/canaries.ts'
import { startPicket } from '../support/picket.ts'
import { waitFor } from '../support/wait.ts'

// takes about 130 s

/** Generous limits: to detect and report an outage, and to report its end after a control plane was killed. */
const [FOR_SECONDS, RECOVER_SECONDS] = [45, 45]
/** The wait until the canary is up. */
const FAR_SECONDS = 1_800

/** The schedule that does not fail for `ms` and whose first failure is settled first. */
function scheduleThat({ forSeconds, leastSeconds, leavesSeconds }: Record<string, number>, now: Date) {
  const schedules = Array.from({ length: 7_200 }, (_, i) => 2 * forSeconds! + i).map(everySeconds => {
    const schedule = { region: 'us-east' as const, everySeconds, forSeconds: forSeconds!, kinds: ['status' as const] }
    const leftSeconds = (computeNextStart(schedule, now).getTime() - now.getTime()) / 1_000
    return { ...schedule, leftSeconds, settledSeconds: leftSeconds + everySeconds }
  })
  return schedules
    .filter(one => one.everySeconds >= leastSeconds! && one.leftSeconds > leavesSeconds! && !isFailing(one, now))
    .sort((a, b) => a.settledSeconds - b.settledSeconds)[0]!
}

type Series = { name: string; value: number }

/** The canary metrics of all processes together. */
async function readSeries(operators: string[]): Promise<Series[]> {
  const texts = await Promise.all(operators.map(async operator => (await fetch(`${operator}/metrics`)).text()))
  const lines = texts.flatMap(text => text.split('\n')).filter(line => line.startsWith('picket_canary_'))
  return lines.map(line => ({ name: line.split(' ')[0]!, value: Number(line.split(' ')[1]) }))
}

const sumSeries = (series: Series[], name: string) =>
  series.filter(one => one.name === name).reduce((sum, { value }) => sum + value, 0)

const OUTCOMES = ['reported', 'late', 'twice', 'missed', 'unmeasured']
const sumOutcomes = (series: Series[]) =>
  OUTCOMES.map(name =>
    sumSeries(series, `picket_canary_outages_total{region="us-east",kind="status",outcome="${name}"}`),
  )

t.test('A planned failure is measured by stages and counted once, with a kill -9 during it', async t => {
  const key = randomBytes(32)
  const picket = await startPicket(t, { env: { SECRET_KEY: key.toString('base64') } })
  const { operator_port } = await (await picket.addControlPlane({ ROLES: 'schedule' })).untilEvent('ready')
  await picket.admin('operator', 'create', '--email', 'operator@example.com')
  const far = scheduleThat({ forSeconds: 10, leastSeconds: FAR_SECONDS, leavesSeconds: FAR_SECONDS }, new Date())
  const times = ['--every', String(far.everySeconds), '--for', String(far.forSeconds)]
  const made = await picket.admin('canaries', 'create', '--url', picket.origin, ...times)
  t.match(made, /^us-east\t\S+\tpending\tfails \S+\tnot measured yet$/)

  const db = createPostgres(picket.databaseUrl, 2)
  t.teardown(() => db.destroy())
  const { projectId } = (await findCanaryProject(db))!
  const admin = await createApiKey(db, { projectId, userId: null }, { name: 'test', scope: 'admin' })
  const api = createApi(picket.origin, admin.key)
  const monitor = async () => (await api.get('/monitors')).body.data[0]
  const isDelivered = async (event: string) =>
    (await api.get(`/alerts/log?event=${event}`)).body.data.some(
      (one: { status: string }) => one.status === 'delivered',
    )
  await waitFor(async () => (await monitor()).status === 'up', { label: 'the first verdict' })

  const now = new Date()
  const least = { leastSeconds: FOR_SECONDS + RECOVER_SECONDS, leavesSeconds: 10 }
  const { everySeconds, forSeconds } = scheduleThat({ forSeconds: FOR_SECONDS, ...least }, now)
  await createCanaries(
    canaryTools(db, key),
    { everySeconds, forSeconds, kinds: ['status'], origin: picket.origin },
    now,
  )
  const { id, url } = await monitor()
  // requested, so that the test does not wait for a slot
  const turnsTo = async (status: string, code: number) => {
    await waitFor(async () => (await fetch(url)).status === code, { label: `the answer ${code}` })
    await api.post(`/monitors/${id}/check`)
    await waitFor(async () => (await monitor()).status === status, { label: `status ${status}` })
    await waitFor(() => isDelivered(`monitor.${status}`), { label: `the alert of ${status}` })
  }
  await turnsTo('down', 503)
  await picket.controlPlane.kill9()
  await picket.restartControlPlane()
  await turnsTo('up', 200)

  const series = await waitFor(
    async () => {
      const all = await readSeries([picket.operator, `http://127.0.0.1:${operator_port}`])
      return sumOutcomes(all).some(count => count > 0) ? all : null
    },
    { everyMs: 500, label: 'the measured failure' },
  )
  t.same(sumOutcomes(series), [1, 0, 0, 0, 0])
  const kept = 'picket_canary_guarantees_total{region="us-east",kind="status",guarantee="kept"}'
  t.equal(sumSeries(series, kept), 1, 'detected and reported within the guarantee')
  const getSeconds = (turn: string, stage: string) => {
    const labels = `{region="us-east",kind="status",turn="${turn}",stage="${stage}"}`
    t.equal(sumSeries(series, `picket_canary_detection_seconds_count${labels}`), 1, `${turn} ${stage} is counted once`)
    return sumSeries(series, `picket_canary_detection_seconds_sum${labels}`)
  }
  const [result, down, alertDown] = ['result', 'status', 'alert'].map(stage => getSeconds('down', stage))
  const [up, alertUp] = ['status', 'alert'].map(stage => getSeconds('up', stage))
  t.ok(result! <= down! && down! <= alertDown!, `failing ${result}, down ${down}, alert ${alertDown}`)
  t.ok(up! <= alertUp!, `up ${up}, alert ${alertUp}`)
  t.match(await picket.admin('canaries', 'list'), /\tfailed \S+ \(status\): reported$/)
})
