import { setTimeout as pause } from 'node:timers/promises'
import { createApiKey } from '../../control-plane/accounts/api-keys/actions.ts'
import { type Db, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startImports } from '../support/import-load.ts'
import { insertManyChannels } from '../support/many-channels.ts'
import { type Teardown, withTeardown } from '../support/teardown.ts'
import { insertTenant } from '../support/tenant.ts'
import { waitFor } from '../support/wait.ts'
import type { ChaosScale } from './plan.ts'

/** A tenant next to the one whose outages are checked; that one must not notice. */
export type OtherTenant = {
  /** Imports all the time. Its monitors hang, and go down for hundreds of channels that hang as well. */
  misbehave(forMs: number): Promise<void>
}

/** @param url a target that hangs; every path below it does */
export async function createOtherTenant(
  db: Db,
  { isShort }: ChaosScale,
  { origin, secretKey, url }: { origin: string; secretKey: Buffer; url: string },
): Promise<OtherTenant> {
  const { projectId } = await insertTenant(db)
  const { key } = await createApiKey(db, { projectId, userId: null }, { name: 'chaos', scope: 'admin' })
  const size = isShort ? { monitors: 20, channels: 100, atOnce: 2 } : { monitors: 200, channels: 1_000, atOnce: 10 }
  let hasChannels = false

  const addChannels = async () => {
    if (hasChannels) return true
    const sql = 'SELECT id FROM monitors WHERE project_id = ? ORDER BY id LIMIT 3'
    const monitorIds = (await query<{ id: string }>(db, sql, [projectId])).map(({ id }) => id)
    if (monitorIds.length === 0) throw new Error('no import is done yet')
    await insertManyChannels(db, { projectId, monitorIds, count: size.channels, url, secretKey })
    hasChannels = true
    return true
  }
  const misbehave = async (t: Teardown, forMs: number) => {
    const { stop } = startImports(t, { origin, key }, { atOnce: size.atOnce, monitors: size.monitors, url })
    // an engine may be away meanwhile; then there are no channels this time
    const channels = waitFor(addChannels, { timeoutMs: forMs, everyMs: 500, label: 'channels' }).catch(() => {})
    await pause(forMs)
    await stop()
    await channels
  }
  return { misbehave: forMs => withTeardown(t => misbehave(t, forMs)) }
}
