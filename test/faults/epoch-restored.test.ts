import t from 'tap'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startPicket } from '../support/picket.ts'
import { copyDatabase } from '../support/restored-database.ts'
import { startTarget } from '../support/target.ts'
import { waitFor } from '../support/wait.ts'

// takes about 90 s

const REGION = 'us-east'
const INTERVAL_S = 2

const target = await startTarget(t)
const picket = await startPicket(t, { regions: [REGION] })
const db = createPostgres(picket.databaseUrl, 1)
t.teardown(() => db.destroy())

const body = { name: 'Shop', type: 'http', url: target.url, regions: [REGION], interval_seconds: 30, retry_count: 1 }
const { id } = (await picket.api.post('/monitors', body)).body.data
// shorter than any plan allows, so that results arrive all the time
await execute(db, 'UPDATE monitors SET interval_seconds = ?, config_version = config_version + 1', [INTERVAL_S])

const statusIs = (status: string) =>
  waitFor(
    async () => {
      const rows = await query(db, 'SELECT FROM monitors WHERE id = ? AND status = ?', [id, status])
      return rows.length === 1
    },
    { label: status, everyMs: 100 },
  )
const inForce = async () => {
  const sql = 'SELECT epoch, cardinality(probe_ids) AS probes FROM region_epochs WHERE region = ?'
  const [row] = await query<{ epoch: number; probes: number }>(db, sql, [REGION])
  return row ?? { epoch: 0, probes: 0 }
}
const target503 = () => target.behave({ kind: 'answer', status: 503 })
const target200 = () => target.behave({ kind: 'answer' })

/** Every outage is found, and its end. */
async function outageIsFound() {
  target503()
  const fromMs = performance.now()
  await statusIs('down')
  const seconds = (performance.now() - fromMs) / 1_000
  target200()
  await statusIs('up')
  return seconds
}

/** The only probe leaves and comes back: the same live set with a higher epoch, which its results carry. */
async function changeLiveSet() {
  const [probe] = picket.probes
  const { epoch } = await inForce()
  await probe!.stop()
  await waitFor(async () => (await inForce()).epoch > epoch, { label: 'an empty live set' })
  probe!.start()
  await waitFor(async () => (await inForce()).probes === 1, { label: 'the probe to be live again' })
  return (await inForce()).epoch
}

/** Results carry the number of the epoch. */
const changeMonitor = () =>
  execute(db, 'UPDATE monitors SET timeout_ms = timeout_ms - 1, config_version = config_version + 1')

await statusIs('up')

const CASES = {
  'all processes go on': async (restore: () => Promise<void>) => restore(),
  'the control plane starts again': async (restore: () => Promise<void>) => {
    await picket.controlPlane.kill9()
    await restore()
    await picket.restartControlPlane()
  },
  'the control plane and all probes start again': async (restore: () => Promise<void>) => {
    await Promise.all([picket.controlPlane, ...picket.probes].map(program => program.kill9()))
    await restore()
    for (const probe of picket.probes) probe.start()
    await picket.restartControlPlane()
  },
}

for (const [i, [what, go]] of Object.entries(CASES).entries()) {
  t.test(`PostgreSQL is restored to an earlier state, and ${what}: outages are found with the next checks`, async t => {
    const copy = await copyDatabase(t, picket.databaseUrl, `copy_${i}`)
    await statusIs('up')
    const lost = await changeLiveSet()
    await changeMonitor()
    await outageIsFound()
    await go(copy.restore)
    // from here on only the restore changes the live set
    t.comment(`found after ${(await outageIsFound()).toFixed(1)} s`)
    t.ok((await changeLiveSet()) > lost, 'epochs go on above those that were given out')
  })
}
