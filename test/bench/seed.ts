/** Monitors by the hundred thousand, through the statement that the API's create ends in. */
import { randomBytes } from 'node:crypto'
import { draftMonitor } from '../../control-plane/monitors/actions.ts'
import type { MonitorCreate } from '../../control-plane/monitors/schema.ts'
import { insertMonitors } from '../../control-plane/monitors/store.ts'
import { execute, query, withPostgres } from '../../control-plane/platform/postgres.ts'
import { createSecrets } from '../../control-plane/platform/secrets.ts'

const ROWS_A_STATEMENT = 5_000

/** HTTP monitors at 30 s in the first project of a database; `changes` is of a create body. Answers their ids. */
export async function seedMonitors(
  databaseUrl: string,
  count: number,
  changes: Partial<MonitorCreate> = {},
): Promise<string[]> {
  const tools = { checkLiteral: () => null, secrets: createSecrets(randomBytes(32)) }
  return withPostgres(databaseUrl, async db => {
    const [project] = await query<{ id: string }>(db, 'SELECT id FROM projects ORDER BY id LIMIT 1')
    const monitors = Array.from({ length: count }, (_, number) =>
      draftMonitor(
        tools,
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
