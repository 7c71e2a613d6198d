import { setTimeout as pause } from 'node:timers/promises'
import { createApiKey } from '../../control-plane/accounts/api-keys/actions.ts'
import { type Db, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startImports } from '../support/import-load.ts'
import { insertManyChannels } from '../support/many-channels.ts'
import { type Teardown, withTeardown } from '../support/teardown.ts'
import { insertTenant } from '../support/tenant.ts'
import { waitFor } from '../support/wait.ts'
import type { ChaosScale } from './plan.ts'

/** A second tenant. It must not affect the tenant whose outages are checked. */
export type OtherTenant = {
  /** Imports continuously. Its monitors time out, and their outages are sent to hundreds of channels that hang as well. */
  misbehave(forMs: number): Promise<void>
}

/** @param url a target that never answers, with all paths below it */
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
    if (monitorIds.length === 0) throw new Error('no import has finished yet')
    await insertManyChannels(db, { projectId, monitorIds, count: size.channels, url, secretKey })
    hasChannels = true
    return true
  }
  const misbehave = async (t: Teardown, forMs: number) => {
    const { stop } = startImports(t, { origin, key }, { atOnce: size.atOnce, monitors: size.monitors, url })
    // an engine may be unavailable meanwhile; in this case no channels are added
    const channels = waitFor(addChannels, { timeoutMs: forMs, everyMs: 500, label: 'channels' }).catch(() => {})
    await pause(forMs)
    await stop()
    await channels
  }
  return { misbehave: forMs => withTeardown(t => misbehave(t, forMs)) }
}
