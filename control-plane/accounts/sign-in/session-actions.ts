import type { Db, Tx } from '../../platform/postgres.ts'
import { actingAsPerson, type Person, recordAct } from '../audit/actions.ts'
import type { Visitor } from '../bootstrap/network.ts'
import { openSession } from '../sessions/actions.ts'
import { browserOf } from '../sessions/browser.ts'
import { organizationsOf, removeSessions, type Session } from '../sessions/store.ts'

type Act = {
  action: 'signed_in' | 'signed_out' | 'password_changed'
  changes: Record<string, { from: unknown; to: unknown }>
}

/** A session that the audit log tells of, with the browser it is in. Answers its token. */
export async function beginSession(
  tx: Tx,
  person: Person,
  { ip, userAgent }: Visitor,
  action: 'signed_in' | 'password_changed',
): Promise<string> {
  const { id, token } = await openSession(tx, person.id)
  const changes = { session: { from: null, to: id }, browser: { from: null, to: browserOf(userAgent) } }
  await record(tx, person, ip, { action, changes })
  return token
}

/** Ends one session of somebody who is signed in, or all but the one they are in. */
export function endSessions(
  db: Db,
  { id, userId, email }: Pick<Session, 'id' | 'userId' | 'email'>,
  which: { id: string } | 'others',
  { ip }: Pick<Visitor, 'ip'>,
): Promise<void> {
  return db.transaction(async tx => {
    const ended = await removeSessions(tx, userId, which === 'others' ? { but: id } : which)
    for (const session of ended) {
      const changes = { session: { from: session, to: null } }
      await record(tx, { id: userId, email }, ip, { action: 'signed_out', changes })
    }
  })
}

/** In the audit log of each organization that the person belongs to. */
async function record(tx: Tx, person: Person, ip: string, act: Act): Promise<void> {
  const { id, email } = person
  for (const { id: organizationId } of await organizationsOf(tx, id)) {
    await actingAsPerson(tx, person, ip, organizationId).transaction(acted =>
      recordAct(acted, { ...act, resource: 'user', resourceId: id, resourceName: email }),
    )
  }
}
