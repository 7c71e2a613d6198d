import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { all, connectProbe, createTestFleet, PATIENT, type TestProbe } from '../support/fleet.ts'
import { insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

const REGION = 'eu-west'
const COUNT = 20

const fleet = await createTestFleet(t)
await insertMonitors(fleet.db, fleet.projectId, COUNT, { regions: [REGION] })
const token = await fleet.token()
const [one, two] = [await fleet.start(PATIENT), await fleet.start(PATIENT)]
const a = connectProbe(t, one.port, token, { name: 'a' })
const b = connectProbe(t, two.port, token, { name: 'b' })

const SECONDS_AGO = `CAST(extract(epoch FROM now() - timestamptz '2026-01-01T00:00:00Z') AS integer) - epoch`
const hasEpoch = (...probes: TestProbe[]) =>
  waitFor(
    async () => {
      const { epoch, probeIds } = await fleet.epoch()
      return probeIds.length === 2 && probes.every(probe => probe.has.epoch === epoch)
    },
    { label: 'both probes with the epoch of the database' },
  )
const inForce = async () => (await fleet.epoch()).epoch

await hasEpoch(a, b)

/** As a restore does: the fleet is not notified. */
const goBack = (set: string) => execute(fleet.db, `UPDATE region_epochs SET ${set} WHERE region = ?`, [REGION])

t.test(
  'An epoch is the time of its live set, so that an earlier state of the database cannot give it out again',
  async t => {
    const [row] = await query<{ seconds: number }>(
      fleet.db,
      `SELECT ${SECONDS_AGO} AS seconds FROM region_epochs WHERE region = ?`,
      [REGION],
    )
    t.ok(row!.seconds >= -COUNT && row!.seconds < 3_600, `${row!.seconds} s ago`)
  },
)

for (const [what, set] of [
  ['an older epoch', 'epoch = epoch - 1'],
  ['the same epoch with other probes', `probe_ids = probe_ids[1:1]`],
  ['an epoch of long ago and no probe', `epoch = 3, probe_ids = '{}'`],
] as const) {
  t.test(`When the database is restored with ${what}, the region gets a higher epoch immediately`, async t => {
    const before = await inForce()
    await goBack(set)
    await waitFor(async () => (await inForce()) > before, { label: 'a higher epoch' })
    await hasEpoch(a, b)
    t.ok((a.has.epoch ?? 0) > before)
  })
}

t.test('When the database is restored without the region, the region gets a higher epoch immediately', async t => {
  const before = await inForce()
  await execute(fleet.db, 'DELETE FROM region_epochs WHERE region = ?', [REGION])
  await waitFor(async () => (await inForce()) > before, { label: 'a higher epoch' })
  await hasEpoch(a, b)
  t.ok((await inForce()) > before)
})

t.test('Two processes that notice a restore together give out one epoch', async t => {
  const before = await inForce()
  const counted = all(a, 'epochChanged').length
  await goBack('epoch = epoch - 5')
  await waitFor(async () => (await inForce()) > before, { label: 'a higher epoch' })
  await hasEpoch(a, b)
  const rounds = async () => (await one.metrics.render()).text.match(/loop="fleet_links",outcome="ok"\} (\d+)/)?.[1]
  const first = Number(await rounds())
  await waitFor(async () => Number(await rounds()) > first + 1, { label: 'two more rounds' })
  t.equal(all(a, 'epochChanged').length, counted + 1)
})

t.test('When all control planes restart on an older state, probes report the current epoch to them', async t => {
  const before = await inForce()
  await Promise.all([one.stop(), two.stop()])
  await goBack('epoch = epoch - 3')
  const three = await fleet.start(PATIENT)
  const lastRevision = a.has.revision
  const again = connectProbe(t, three.port, token, { name: 'a', lastRevision, lastEpoch: before })
  await waitFor(async () => again.has.epoch === (await inForce()) && (await inForce()) > before, {
    label: 'a higher epoch',
  })
  t.ok((all(again, 'welcome')[0]?.epoch ?? 0) > before)
  await again.ready()
  t.ok(
    all(again, 'assignments').every(({ isSnapshot }) => isSnapshot),
    'what it has is replaced as a whole',
  )

  await t.test('An epoch that cannot have been given out is ignored', async t => {
    const now = await inForce()
    const liar = connectProbe(t, three.port, token, { name: 'a', lastRevision, lastEpoch: 4_294_967_295 })
    await liar.ready()
    t.equal(await inForce(), now)
    t.equal(all(liar, 'welcome')[0]?.epoch, now)
  })
})
