import t from 'tap'
import { createApiKey } from '../../control-plane/accounts/api-keys/actions.ts'
import { nextStart } from '../../control-plane/canaries/schedule.ts'
import { findCanaryProject } from '../../control-plane/canaries/store.ts'
import { createPostgres } from '../../control-plane/platform/postgres.ts'
import { createApi } from '../support/api.ts'
import { startPicket } from '../support/picket.ts'
import { waitFor } from '../support/wait.ts'

// takes about 60 s

const FOR_SECONDS = 20

/** For the canary to be made and found up before it fails, and for a killed control plane to tell the end in time. */
const [PREPARE_SECONDS, RECOVER_SECONDS] = [15, 25]

/** Of the periods that leave time to recover, the one after which a failure that is not begun yet is settled first. */
function bestPeriod(now = new Date()): number {
  const periods = Array.from({ length: 60 }, (_, i) => FOR_SECONDS + RECOVER_SECONDS + i).map(everySeconds => {
    const start = nextStart({ region: 'us-east', everySeconds, forSeconds: FOR_SECONDS }, now)
    const leftSeconds = (start.getTime() - now.getTime()) / 1_000
    return { everySeconds, leftSeconds, total: leftSeconds + everySeconds }
  })
  const usable = periods.filter(({ leftSeconds }) => leftSeconds > PREPARE_SECONDS)
  return usable.sort((a, b) => a.total - b.total)[0]!.everySeconds
}

type Series = { name: string; value: number }

/** What all these processes together tell of canaries. */
async function readSeries(origins: string[]): Promise<Series[]> {
  const texts = await Promise.all(origins.map(async origin => (await fetch(`${origin}/metrics`)).text()))
  const lines = texts.flatMap(text => text.split('\n')).filter(line => line.startsWith('picket_canary_'))
  return lines.map(line => ({ name: line.split(' ')[0]!, value: Number(line.split(' ')[1]) }))
}

const sumOf = (series: Series[], name: string) =>
  series.filter(one => one.name === name).reduce((sum, { value }) => sum + value, 0)

const OUTCOMES = ['told', 'late', 'twice', 'missed', 'unmeasured']
const outcomesOf = (series: Series[]) =>
  OUTCOMES.map(name => sumOf(series, `picket_canary_outages_total{region="us-east",outcome="${name}"}`))

t.test('A planned failure is measured by stages and counted once, with a kill -9 in the middle of it', async t => {
  const picket = await startPicket(t)
  const { http_port } = await (await picket.addControlPlane({ ROLES: 'schedule' })).untilEvent('ready')
  await picket.admin('operator', 'create', '--email', 'operator@example.com')
  const times = ['--every', String(bestPeriod()), '--for', String(FOR_SECONDS)]
  const made = await picket.admin('canaries', 'create', '--url', picket.origin, ...times)
  t.match(made, /^us-east\t\S+\tpending\tfails \S+\tnot measured yet$/)

  const db = createPostgres(picket.databaseUrl, 2)
  t.teardown(() => db.destroy())
  const { projectId } = (await findCanaryProject(db))!
  const { key } = await createApiKey(db, { projectId, userId: null }, { name: 'test', scope: 'admin' })
  const api = createApi(picket.origin, key)
  const monitor = async () => (await api.get('/monitors')).body.data[0]
  const isTold = async (event: string) =>
    (await api.get(`/alerts/log?event=${event}`)).body.data.some(
      (one: { status: string }) => one.status === 'delivered',
    )
  const { id, url } = await monitor()
  // asked for, so that nobody waits for a slot of its interval
  const turnsTo = async (status: string, code: number) => {
    await waitFor(async () => (await fetch(url)).status === code, { label: `the answer ${code}` })
    await api.post(`/monitors/${id}/check`)
    await waitFor(async () => (await monitor()).status === status, { label: `status ${status}` })
    await waitFor(() => isTold(`monitor.${status}`), { label: `the alert of ${status}` })
  }
  await waitFor(async () => (await monitor()).status === 'up', { label: 'the first verdict' })

  await turnsTo('down', 503)
  await picket.controlPlane.kill9()
  await picket.restartControlPlane()
  await turnsTo('up', 200)

  const series = await waitFor(
    async () => {
      const all = await readSeries([picket.origin, `http://127.0.0.1:${http_port}`])
      return outcomesOf(all).some(count => count > 0) ? all : null
    },
    { everyMs: 500, label: 'the measured failure' },
  )
  t.same(outcomesOf(series), [1, 0, 0, 0, 0])
  const secondsOf = (turn: string, stage: string) => {
    const labels = `{region="us-east",turn="${turn}",stage="${stage}"}`
    t.equal(sumOf(series, `picket_canary_detection_seconds_count${labels}`), 1, `${turn} ${stage} is counted once`)
    return sumOf(series, `picket_canary_detection_seconds_sum${labels}`)
  }
  const [result, down, toldDown] = ['result', 'status', 'alert'].map(stage => secondsOf('down', stage))
  const [up, toldUp] = ['status', 'alert'].map(stage => secondsOf('up', stage))
  t.ok(result! <= down! && down! <= toldDown! && toldDown! < 60, `failing ${result}, down ${down}, told ${toldDown}`)
  t.ok(up! <= toldUp! && toldUp! < 60, `up ${up}, told ${toldUp}`)
  t.match(await picket.admin('canaries', 'list'), /\tfailed \S+: told$/)
})
