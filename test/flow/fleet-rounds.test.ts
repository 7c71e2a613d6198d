import t from 'tap'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { FLEET_TIMING } from '../../control-plane/monitoring/fleet/timing.ts'
import { connectProbe, createTestFleet, FAST, PATIENT } from '../support/fleet.ts'
import { countRounds } from '../support/rounds.ts'
import { insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

// takes about 15 s

t.test('A failed update of the live sets is repeated in each round until it succeeds', async t => {
  const fleet = await createTestFleet(t)
  const { metrics, port } = await fleet.start(FAST)
  const count = (outcome: 'ok' | 'failed') => countRounds(metrics, 'fleet_links', outcome)
  await waitFor(async () => (await count('ok')) >= 2, { label: 'two rounds' })
  // only an update reads it
  await execute(fleet.db, 'ALTER TABLE probe_tokens RENAME TO away')
  await waitFor(async () => (await count('failed')) >= 1, { label: 'an update that fails' })
  const ok = await count('ok')
  await waitFor(async () => (await count('failed')) >= 4, { label: 'four of them' })
  t.equal(await count('ok'), ok, 'no round succeeds without an update')
  await execute(fleet.db, 'ALTER TABLE away RENAME TO probe_tokens')
  await waitFor(async () => (await count('ok')) > ok, { label: 'a round that succeeds' })
  const probe = connectProbe(t, port, await fleet.token())
  await probe.ready()
})

/** Without a notification nothing is read while a test runs. */
const NEVER_MS = 24 * 3_600_000

t.test('A change reaches its probe on the notification of PostgreSQL, not with the next poll', async t => {
  const fleet = await createTestFleet(t)
  const { port } = await fleet.start({ ...PATIENT, monitorPollIntervalMs: NEVER_MS })
  const probe = connectProbe(t, port, await fleet.token())
  await probe.ready()
  for (let i = 0; i < 3; i++) {
    const [id] = await insertMonitors(fleet.db, fleet.projectId, 1, { regions: ['eu-west'] })
    await waitFor(() => probe.assigned.has(id!), { label: 'the new monitor' })
  }
})

for (const [channel, loop] of [
  ['region_epochs', 'fleet_epochs'],
  ['probes_revoked', 'fleet_access'],
] as const) {
  t.test(`A notification of ${channel} wakes ${loop}`, async t => {
    const fleet = await createTestFleet(t)
    const { metrics } = await fleet.start({
      ...FLEET_TIMING,
      monitorPollIntervalMs: NEVER_MS,
      roundIntervalMs: NEVER_MS,
    })
    for (let i = 0; i < 3; i++) {
      const before = await countRounds(metrics, loop, 'ok')
      // the process may not listen yet
      await waitFor(
        async () => {
          await execute(fleet.db, `SELECT pg_notify('${channel}', '')`)
          return (await countRounds(metrics, loop, 'ok')) > before
        },
        { label: `a round of ${loop}` },
      )
    }
  })
}
