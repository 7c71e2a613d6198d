/** Inserts hundreds of thousands of monitors, with the SQL statement of the API's create route, and their verdicts. */
import { randomBytes } from 'node:crypto'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { execute, query, withPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { buildMonitor } from '../../control-plane/monitoring/monitors/actions.ts'
import type { MonitorCreate } from '../../control-plane/monitoring/monitors/settings/schema.ts'
import { insertMonitors } from '../../control-plane/monitoring/monitors/store.ts'
import { decide } from '../../control-plane/verdict/core/rules/decide.ts'
import { createMonitorState } from '../../control-plane/verdict/core/rules/state.ts'
import { storeStates, storeStatuses } from '../../control-plane/verdict/core/store.ts'
import type { VerdictResult } from '../../control-plane/verdict/core/types.ts'
import { Outcome, Trigger } from '../../shared/checks/result.ts'

const ROWS_A_STATEMENT = 5_000

/** Inserts HTTP monitors at 30 s into the first project and returns their ids. `changes`: fields of the create body. */
export async function seedMonitors(
  databaseUrl: string,
  count: number,
  changes: Partial<MonitorCreate> = {},
): Promise<string[]> {
  const secrets = createSecretCipher(randomBytes(32))
  return withPostgres(databaseUrl, async db => {
    const [project] = await query<{ id: string }>(db, 'SELECT id FROM projects ORDER BY id LIMIT 1')
    const monitors = Array.from({ length: count }, (_, number) =>
      buildMonitor(
        secrets,
        project!.id,
        {
          name: `Shop ${number}`,
          type: 'http',
          url: `http://127.0.0.1:9/shops/${number}`,
          interval_seconds: 30,
          regions: ['us-east', 'eu-west', 'ap-southeast'],
          ...changes,
        },
        new Date(),
      ),
    )
    await db.transaction(async tx => {
      for (let from = 0; from < count; from += ROWS_A_STATEMENT) {
        await insertMonitors(tx, monitors.slice(from, from + ROWS_A_STATEMENT))
      }
    })
    await execute(db, 'ANALYZE monitors')
    return monitors.map(({ id }) => id)
  })
}

/** Inserts the verdict states of monitors that have been up in all `regions` for a long time. */
export async function seedVerdicts(databaseUrl: string, ids: string[], regions: readonly string[]): Promise<void> {
  const shots = regions.flatMap(region => [region, region])
  const policy = { ...POLICY, regions }
  const buildState = (id: string) => {
    let state = createMonitorState(id, 1)
    for (const [i, region] of shots.entries())
      state = decide(state, { ...UP, region, scheduledAtMs: i }, policy, i).state
    return state
  }
  await withPostgres(databaseUrl, async db => {
    for (let from = 0; from < ids.length; from += ROWS_A_STATEMENT) {
      const some = ids.slice(from, from + ROWS_A_STATEMENT)
      await db.transaction(async tx => {
        await storeStates(tx, some.map(buildState), new Date())
        await storeStatuses(
          tx,
          some.map(id => ({ id, status: 'up', at: new Date() })),
        )
      })
    }
    await execute(db, 'ANALYZE verdict_states')
  })
}

const POLICY = {
  configVersion: 1,
  streaksSince: 1,
  retryCount: 2,
  intervalMs: 30_000,
  timeoutMs: 30_000,
  expires: true,
}
const UP: Omit<VerdictResult, 'region'> = {
  probeId: 'bench',
  configVersion: 1,
  epoch: 1,
  scheduledAtMs: 0,
  attempt: 1,
  outcome: Outcome.UP,
  trigger: Trigger.SLOT,
  statusCode: 200,
  responseTimeMs: 41.234,
  error: null,
}
