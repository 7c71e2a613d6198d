import t from 'tap'
import { connectNats } from '../../control-plane/foundation/platform/nats/client.ts'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { checkParents } from '../../control-plane/verdict/suppression/parent-check-actions.ts'
import {
  claimParentChecks,
  markParentsChecked,
  type ParentCheck,
} from '../../control-plane/verdict/suppression/store.ts'
import { Outcome } from '../../shared/checks/result.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'
import { openAnsweredRegions } from '../support/requested-checks.ts'
import { createScenario } from '../support/silences.ts'
import type { Teardown } from '../support/teardown.ts'
import { insertTenant } from '../support/tenant.ts'

/** In the region `us-west` no probe is connected. */
async function createScene(t: Teardown) {
  const { url } = await createDatabase(t)
  const server = await startNats(t)
  const db = createPostgres(url)
  const nats = await connectNats(server.url, 'test')
  t.teardown(() => Promise.all([nats.close(), db.destroy()]))
  const probes = await openAnsweredRegions(t, db, server.url, ['us-east', 'eu-west'])
  const house = createScenario(db, (await insertTenant(db)).projectId)

  /** A monitor that is down; its parents, one for each list of regions, are up. */
  const addChild = async (parents: string[][]): Promise<string> => {
    const [child] = (await house.addMonitors(1)) as [string]
    const ids: string[] = []
    for (const regions of parents) ids.push(...(await house.addMonitors(1, { regions })))
    await house.check([child, ...ids], '+')
    await house.depend(child, ids)
    await house.check([child], '-')
    return child
  }
  const answer = async (region: string, outcome: Outcome) => probes.answer(await probes.build(region, { outcome }))
  const isAnswered = async (child: string) => {
    const [row] = await query<{ isAnswered: boolean }>(
      db,
      'SELECT is_answered AS "isAnswered" FROM silences WHERE monitor_id = ?',
      [child],
    )
    return row!.isAnswered
  }
  const claim = () => claimParentChecks(db, 10)
  const check = async (claimed?: ParentCheck[]) => checkParents({ db, nats }, claimed ?? (await claim()))
  return { db, house, addChild, answer, isAnswered, claim, check }
}

t.test('An alert waits for the limit of its parents, and no longer, when no probe can check a parent', async t => {
  const { house, addChild, isAnswered, check } = await createScene(t)
  const child = await addChild([['us-west']])
  await check()
  t.equal(await isAnswered(child), false)
  await house.pass(5)
  t.equal(await house.sent(child), '')
  await house.pass(60)
  t.equal(await house.sent(child), 'down created')
})

const ANSWERS: [title: string, parents: string[][], outcomes: Record<string, Outcome>, isReleased: boolean][] = [
  ['is up', [['us-east']], { 'us-east': Outcome.UP }, true],
  ['is degraded', [['us-east']], { 'us-east': Outcome.DEGRADED }, true],
  ['is up in one region and cannot be checked in another', [['us-east', 'us-west']], { 'us-east': Outcome.UP }, true],
  [
    'is up in one region and fails in another',
    [['us-east', 'eu-west']],
    { 'us-east': Outcome.UP, 'eu-west': Outcome.DOWN },
    false,
  ],
  ['could not be checked by its probe', [['us-east']], { 'us-east': Outcome.UNKNOWN }, false],
  ['is up, while another parent cannot be checked', [['us-east'], ['us-west']], { 'us-east': Outcome.UP }, false],
]
for (const [title, parents, outcomes, isReleased] of ANSWERS) {
  t.test(`An alert ${isReleased ? 'is released' : 'waits'} when its parent ${title}`, async t => {
    const { addChild, answer, isAnswered, check } = await createScene(t)
    const child = await addChild(parents)
    const answers = Object.entries(outcomes).map(([region, outcome]) => answer(region, outcome))
    await Promise.all([check(), ...answers])
    t.equal(await isAnswered(child), isReleased)
  })
}

t.test('The answer of a parent to the outage before does not release the alert of the next outage', async t => {
  const { db, house, addChild, answer, isAnswered, claim, check } = await createScene(t)
  const child = await addChild([['us-east']])
  const claimed = await claim()
  await house.check([child], '+-')
  await Promise.all([check(claimed), answer('us-east', Outcome.UP)])
  t.equal(await isAnswered(child), false)
  await markParentsChecked(db, await claim(), house.now())
  t.equal(await isAnswered(child), true, 'the parents are asked again')
})

t.test(
  'A failed attempt delays alerts as long as its vote counts, not when its region has no probe for longer',
  async t => {
    const { db, house, addChild, claim } = await createScene(t)
    for (const [seconds, sent] of [
      [60, ''],
      [600, 'down created'],
    ] as const) {
      const [parent] = (await house.addMonitors(1)) as [string]
      await house.check([parent], '+')
      await house.check([parent], '-', 2)
      await house.leap(seconds)
      const child = await addChild([['us-east']])
      await house.check([child], '+')
      await house.depend(child, [parent])
      await house.check([child], '-')
      await markParentsChecked(db, await claim(), house.now())
      await house.look()
      t.equal(await house.sent(child), sent, `${seconds} s later`)
    }
  },
)
