import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { FLEET_TIMING } from '../../control-plane/fleet/timing.ts'
import { execute } from '../../control-plane/platform/postgres.ts'
import type { Metrics } from '../../shared/metrics.ts'
import { connectProbe, createTestFleet, FAST, PATIENT } from '../support/fleet.ts'
import { insertMonitors } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'

// takes about 15 s

/** How many rounds of a loop have ended so. */
async function rounds(metrics: Metrics, loop: string, outcome: 'ok' | 'failed'): Promise<number> {
  const { text } = await metrics.render()
  const line = `picket_loop_rounds_total{loop="${loop}",outcome="${outcome}"} `
  const found = text.split('\n').find(one => one.startsWith(line))
  return Number(found?.slice(line.length) ?? 0)
}

t.test('a look at the live sets that failed is repeated in each round until it succeeds', async t => {
  const fleet = await createTestFleet(t)
  const { metrics, port } = await fleet.start(FAST)
  const count = (outcome: 'ok' | 'failed') => rounds(metrics, 'fleet_links', outcome)
  await waitFor(async () => (await count('ok')) >= 2, { label: 'two rounds' })
  // only a look reads it
  await execute(fleet.db, 'ALTER TABLE probe_tokens RENAME TO away')
  await waitFor(async () => (await count('failed')) >= 1, { label: 'a look that fails' })
  const ok = await count('ok')
  await waitFor(async () => (await count('failed')) >= 4, { label: 'four of them' })
  t.equal(await count('ok'), ok, 'no round goes on without a look')
  await execute(fleet.db, 'ALTER TABLE away RENAME TO probe_tokens')
  await waitFor(async () => (await count('ok')) > ok, { label: 'a round that succeeds' })
  const probe = connectProbe(t, port, await fleet.token())
  await probe.ready()
})

/** Does it so many times, each after what `work` waits for; or else ends when as many looks two seconds apart would have. */
async function beforeLooks(times: number, work: (i: number) => Promise<unknown>): Promise<'in time' | 'too late'> {
  const all = async (): Promise<'in time'> => {
    for (let i = 0; i < times; i++) await work(i)
    return 'in time'
  }
  return Promise.race([all(), pause((times - 4) * 2_000, 'too late' as const, { ref: false })])
}

t.test('a change reaches its probe when PostgreSQL notifies of it, not with the next look', async t => {
  const fleet = await createTestFleet(t)
  const { port } = await fleet.start(PATIENT)
  const probe = connectProbe(t, port, await fleet.token())
  await probe.ready()
  const changed = await beforeLooks(20, async () => {
    const [id] = await insertMonitors(fleet.db, fleet.projectId, 1, { regions: ['eu-west'] })
    await waitFor(() => probe.assigned.has(id!), { label: 'the new monitor' })
  })
  t.equal(changed, 'in time')
})

for (const [channel, loop] of [
  ['region_epochs', 'fleet_epochs'],
  ['probes_revoked', 'fleet_access'],
] as const) {
  t.test(`a notification of ${channel} wakes ${loop}`, async t => {
    const fleet = await createTestFleet(t)
    const { metrics } = await fleet.start(FLEET_TIMING)
    const woken = await beforeLooks(20, async () => {
      const before = await rounds(metrics, loop, 'ok')
      // the process may not listen yet
      await waitFor(
        async () => {
          await execute(fleet.db, `SELECT pg_notify('${channel}', '')`)
          return (await rounds(metrics, loop, 'ok')) > before
        },
        { label: `a round of ${loop}` },
      )
    })
    t.equal(woken, 'in time')
  })
}
