import t from 'tap'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { draftMonitor } from '../../control-plane/monitoring/monitors/actions.ts'
import { insertMonitors } from '../../control-plane/monitoring/monitors/store.ts'
import { decide } from '../../control-plane/verdict/core/rules/decide.ts'
import { createMonitorState } from '../../control-plane/verdict/core/rules/state.ts'
import { storeStates, storeStatuses } from '../../control-plane/verdict/core/store.ts'
import type { VerdictResult } from '../../control-plane/verdict/core/types.ts'
import { markUnchecked } from '../../control-plane/verdict/core/unknown-status/unchecked.ts'
import { storeUncheckedMonitors } from '../../control-plane/verdict/core/unknown-status/unchecked-actions.ts'
import { buildPolicy } from '../../control-plane/verdict/reader/counting/policy.ts'
import { loadMonitors } from '../../control-plane/verdict/reader/partitions/partition-store.ts'
import { Outcome, Trigger } from '../../shared/checks/result.ts'
import { createDatabase } from '../support/database.ts'
import { createScenario } from '../support/silences.ts'
import { insertTenant } from '../support/tenant.ts'
import { insertChannel, insertMonitor } from '../support/verdict.ts'

const { url } = await createDatabase(t)
const db = createPostgres(url)
t.teardown(() => db.destroy())
const { projectId } = await insertTenant(db)

const result: VerdictResult = {
  region: 'us-east',
  probeId: 'p',
  configVersion: 1,
  epoch: 3,
  scheduledAtMs: 30_000,
  attempt: 2,
  outcome: Outcome.DOWN,
  trigger: Trigger.SLOT,
  statusCode: 503,
  responseTimeMs: 12,
  error: null,
}

t.test('a stored streak is read back unchanged, with the newest result once, and duplicates are detected', async t => {
  const tools = { checkLiteral: () => null, secrets: createSecretCipher(Buffer.alloc(32, 1)) }
  const monitor = await draftMonitor(
    tools,
    projectId,
    { name: 'Shop', type: 'http', url: 'https://a.example' },
    new Date(),
  )
  await db.transaction(tx => insertMonitors(tx, [monitor]))
  const [watched] = await loadMonitors(db, monitor.partition, [monitor.id])
  const policy = buildPolicy(watched!)
  const { state } = decide(createMonitorState(monitor.id, 1), result, policy, 30_100)
  await db.transaction(tx => storeStates(tx, [state], new Date()))

  const [stored] = await loadMonitors(db, monitor.partition, [monitor.id])
  const fence = { configVersion: 1, epoch: 3, scheduledAtMs: 30_000, attempt: 2 }
  t.same(stored!.state, { ...state, cells: [{ ...state.cells[0], fence }] })
  t.same(stored!.state!.cells[0]!.last, result)
  t.match(decide(stored!.state!, result, policy, 30_200), { kind: 'history', reason: 'not_newer' })
  const next = { ...result, attempt: 3 }
  t.equal(decide(stored!.state!, next, policy, 30_300).state.cells[0]!.failures, 2)
})

t.test('an owner is notified once of an unchecked monitor, even if the answer to the commit was lost', async t => {
  const id = await insertMonitor(db, projectId)
  await insertChannel(db, projectId, [id])
  await db.transaction(tx => storeStatuses(tx, [{ id, status: 'up', at: new Date(0) }]))
  const state = markUnchecked({ ...createMonitorState(id, 1), status: 'up' }, 30_000)
  const store = () =>
    db.transaction(tx =>
      storeUncheckedMonitors(tx, [{ monitorId: id, configVersion: 1, state }], 'https://p.example', new Date()),
    )
  const count = async (sql: string) => (await query<{ n: number }>(db, sql, [id]))[0]!.n
  for (const time of ['first', 'repeated']) {
    const states = await store()
    t.match(states, [{ monitorId: id, unchecked: { sinceMs: 30_000, isTold: true } }], `${time}: the reader knows it`)
    t.equal(await count(`SELECT count(*)::int AS n FROM events WHERE subject = 'monitor:' || ?`), 1, time)
    t.equal(await count('SELECT count(*)::int AS n FROM transitions WHERE monitor_id = ?'), 1, time)
  }
})

t.test(
  'a silenced monitor that is unchecked is known to the reader, even if the answer to the commit was lost',
  async t => {
    const id = await insertMonitor(db, projectId)
    await insertChannel(db, projectId, [id])
    await db.transaction(tx => storeStatuses(tx, [{ id, status: 'up', at: new Date(0) }]))
    await createScenario(db, projectId, Date.now()).maintain([id], 3_600)
    const state = markUnchecked({ ...createMonitorState(id, 1), status: 'up' }, 30_000)
    const store = (at: Date) =>
      db.transaction(tx =>
        storeUncheckedMonitors(tx, [{ monitorId: id, configVersion: 1, state }], 'https://p.example', at),
      )
    const count = async (sql: string) => (await query<{ n: number }>(db, sql, [id]))[0]!.n
    const countEvents = () => count(`SELECT count(*)::int AS n FROM events WHERE subject = 'monitor:' || ?`)
    for (const time of ['first', 'repeated']) {
      const states = await store(new Date())
      t.match(
        states,
        [{ monitorId: id, unchecked: { sinceMs: 30_000, isTold: false } }],
        `${time}: the reader knows it`,
      )
      t.equal(await count('SELECT count(*)::int AS n FROM transitions WHERE monitor_id = ?'), 1, time)
      t.equal(await countEvents(), 0, `${time}: nothing is sent during maintenance`)
    }
    const afterwards = await store(new Date(Date.now() + 7_200_000))
    t.match(afterwards, [{ monitorId: id, unchecked: { sinceMs: 30_000, isTold: true } }])
    t.equal(await countEvents(), 1, 'the owner is notified after the maintenance')
  },
)
