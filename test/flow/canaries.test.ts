import t from 'tap'
import { createApiKey } from '../../control-plane/accounts/api-keys/actions.ts'
import { findCanaryProject } from '../../control-plane/canaries/store.ts'
import { createPostgres } from '../../control-plane/platform/postgres.ts'
import { createApi } from '../support/api.ts'
import { startPicket } from '../support/picket.ts'
import { waitFor } from '../support/wait.ts'

t.setTimeout(240_000)

const FOR_SECONDS = 20

/** Of the periods that leave time to recover, the shortest by which the next failure of us-east is soon, but not at once. */
function periodWithStartSoon(): number {
  const nowSeconds = Date.now() / 1_000
  for (let period = 2 * FOR_SECONDS; ; period++) {
    const leftSeconds = period - (nowSeconds % period)
    if (leftSeconds > 4 && leftSeconds < 10) return period
  }
}

t.test(
  'A planned failure is measured stage by stage and counted once, though the control plane was killed in it',
  async t => {
    const picket = await startPicket(t)
    const { http_port } = await (await picket.addControlPlane({ ROLES: 'schedule' })).untilEvent('ready')
    await picket.admin('operator', 'create', '--email', 'operator@example.com')
    const every = String(periodWithStartSoon())
    const made = await picket.admin(
      'canaries',
      'create',
      '--url',
      picket.origin,
      '--every',
      every,
      '--for',
      `${FOR_SECONDS}`,
    )
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
      await waitFor(async () => (await fetch(url)).status === code, { timeoutMs: 40_000, label: `the answer ${code}` })
      await api.post(`/monitors/${id}/check`)
      await waitFor(async () => (await monitor()).status === status, { timeoutMs: 40_000, label: `status ${status}` })
      await waitFor(() => isTold(`monitor.${status}`), { label: `the alert of ${status}` })
    }
    await waitFor(async () => (await monitor()).status === 'up', { label: 'the first verdict' })

    await turnsTo('down', 503)
    await picket.controlPlane.kill9()
    await picket.restartControlPlane()
    await turnsTo('up', 200)

    const origins = [picket.origin, `http://127.0.0.1:${http_port}`]
    const metrics = async () =>
      (await Promise.all(origins.map(one => fetch(`${one}/metrics`).then(a => a.text())))).join('\n')
    const sumOf = (text: string, series: string) =>
      text
        .split('\n')
        .filter(line => line.startsWith(`${series} `))
        .reduce((sum, line) => sum + Number(line.split(' ')[1]), 0)
    const outcome = (text: string, name: string) =>
      sumOf(text, `picket_canary_outages_total{region="us-east",outcome="${name}"}`)
    const text = await waitFor(
      async () => {
        const now = await metrics()
        return outcome(now, 'told') > 0 ? now : ''
      },
      { timeoutMs: 90_000, everyMs: 500, label: 'the measured failure' },
    )

    t.same(
      ['told', 'late', 'twice', 'missed', 'unmeasured'].map(name => outcome(text, name)),
      [1, 0, 0, 0, 0],
    )
    const stage = (turn: string, name: string) => {
      const labels = `{region="us-east",turn="${turn}",stage="${name}"}`
      t.equal(sumOf(text, `picket_canary_detection_seconds_count${labels}`), 1, `${turn} ${name} was counted once`)
      return sumOf(text, `picket_canary_detection_seconds_sum${labels}`)
    }
    for (const stages of [
      ['result', 'status', 'alert'].map(name => stage('down', name)),
      ['status', 'alert'].map(name => stage('up', name)),
    ]) {
      t.same(
        stages,
        stages.toSorted((a, b) => a - b),
        `no stage before its cause: ${stages.join(', ')}`,
      )
      t.ok(stages.every(seconds => seconds < 60))
    }
    t.match(await picket.admin('canaries', 'list'), /\tfailed \S+: told$/)
  },
)
