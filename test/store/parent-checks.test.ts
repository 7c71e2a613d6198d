import t from 'tap'
import { connectNats } from '../../control-plane/foundation/platform/nats/client.ts'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { checkParents } from '../../control-plane/verdict/suppression/parent-check-actions.ts'
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
  return { house, addChild, answer, isAnswered, check: (child: string) => checkParents({ db, nats }, [child]) }
}

t.test('An alert waits for the limit of its parents, and no longer, when no probe can check a parent', async t => {
  const { house, addChild, isAnswered, check } = await createScene(t)
  const child = await addChild([['us-west']])
  await check(child)
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
    await Promise.all([check(child), ...answers])
    t.equal(await isAnswered(child), isReleased)
  })
}
