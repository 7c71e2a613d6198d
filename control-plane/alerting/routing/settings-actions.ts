import { isId } from '../../foundation/platform/ids.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { notFound } from '../../foundation/web/server/errors.ts'
import { isEmptyUpdate } from '../../foundation/web/validation/empty-update.ts'
import type { SettingsUpdate } from './schemas.ts'
import { holdMember, readSettings, type SettingsRow, writeSettings } from './settings-store.ts'

/** Changes the given settings. Throws 404 when the person on call is not a member. */
export async function changeSettings(db: Db, projectId: string, body: SettingsUpdate, now: Date): Promise<SettingsRow> {
  const { on_call_user_id: userId } = body
  return await db.transaction(async tx => {
    const isKnown = userId == null || (isId(userId) && (await holdMember(tx, projectId, userId)))
    if (!isKnown) throw notFound('member')
    if (!isEmptyUpdate(body)) await writeSettings(tx, projectId, body, now)
    return readSettings(tx, projectId)
  })
}
