import type { Db, Tx } from '../../foundation/platform/postgres/client.ts'
import { recordAudit, type UserIdentity, withUserActor } from '../audit/actions.ts'
import type { ClientInfo } from '../registration/client-info.ts'
import { createSession } from './actions.ts'
import { parseBrowserName } from './browser-name.ts'
import { listUserOrganizations, removeSessions, type UserSession } from './store.ts'

type SessionAuditRecord = {
  action: 'signed_in' | 'signed_out' | 'password_changed'
  changes: Record<string, { from: unknown; to: unknown }>
}

/** Starts a session and records it with its browser in the audit log. Returns its token. */
export async function startAuditedSession(
  tx: Tx,
  person: UserIdentity,
  { ip, userAgent }: ClientInfo,
  action: 'signed_in' | 'password_changed',
): Promise<string> {
  const { id, token } = await createSession(tx, person.id)
  const changes = { session: { from: null, to: id }, browser: { from: null, to: parseBrowserName(userAgent) } }
  await recordInOrganizations(tx, person, ip, { action, changes })
  return token
}

/** Ends one session of a signed-in user, or all but the current one. */
export function endSessions(
  db: Db,
  { id, userId, email }: Pick<UserSession, 'id' | 'userId' | 'email'>,
  which: { id: string } | 'others',
  { ip }: Pick<ClientInfo, 'ip'>,
): Promise<void> {
  return db.transaction(async tx => {
    const ended = await removeSessions(tx, userId, which === 'others' ? { but: id } : which)
    for (const session of ended) {
      const changes = { session: { from: session, to: null } }
      await recordInOrganizations(tx, { id: userId, email }, ip, { action: 'signed_out', changes })
    }
  })
}

/** Writes to the audit log of each organization that the user has entered. Others could make anyone a member to read it. */
async function recordInOrganizations(tx: Tx, person: UserIdentity, ip: string, act: SessionAuditRecord): Promise<void> {
  const { id, email } = person
  const entered = (await listUserOrganizations(tx, id)).filter(({ isEntered }) => isEntered)
  for (const { id: organizationId } of entered) {
    await withUserActor(tx, person, ip, organizationId).transaction(acted =>
      recordAudit(acted, { ...act, resource: 'user', resourceId: id, resourceName: email }),
    )
  }
}
