import t from 'tap'
import {
  assertCallerHasAccess,
  assertStillHasAccess,
  createKeyAs,
} from '../../../control-plane/accounts/api-keys/actions.ts'
import { changeRole } from '../../../control-plane/accounts/members/actions.ts'
import type { MemberRole } from '../../../control-plane/accounts/members/role.ts'
import { insertMember } from '../../../control-plane/accounts/members/store.ts'
import { DEFAULT_LIMITS } from '../../../control-plane/accounts/plans/plans.ts'
import { insertOrganization, insertUser } from '../../../control-plane/accounts/registration/store.ts'
import { createSession, readSession, toSessionCaller } from '../../../control-plane/accounts/sessions/actions.ts'
import { newId } from '../../../control-plane/foundation/platform/ids.ts'
import { createPostgres, type Db, execute, query } from '../../../control-plane/foundation/platform/postgres/client.ts'
import { createWallLink } from '../../../control-plane/insight/live/wall-links/actions.ts'
import { createDatabase } from '../../support/database.ts'
import { runWhileLocked } from '../../support/while-held.ts'

const db = createPostgres((await createDatabase(t)).url, 8)
t.teardown(() => db.destroy())
const now = new Date('2026-11-21T10:00:00Z')

/** A signed-in member with this role, of an organization that has another admin. */
async function createMember(role: MemberRole) {
  const [organizationId, projectId, founderId, userId] = [newId(), newId(), newId(), newId()]
  const token = await db.transaction(async tx => {
    for (const id of [founderId, userId])
      await insertUser(tx, { userId: id, email: `${id}@example.com`, name: null, now })
    const named = { name: 'Acme', projectName: 'Acme', plan: 'free' as const }
    await insertOrganization(tx, { organizationId, projectId, userId: founderId, ...named, now })
    await execute(tx, 'UPDATE users SET email_proven_at = ? WHERE id IN (?, ?)', [now, founderId, userId])
    await insertMember(tx, { organizationId, userId, role, awaitsProof: false, now })
    return (await createSession(tx, userId)).token
  })
  const caller = toSessionCaller((await readSession(db, token))!)!
  const become = (changed: MemberRole) => (on: Db) => changeRole(on, organizationId, userId, changed)
  return { projectId, caller, become }
}

t.test('An admin who becomes a viewer meanwhile gets no key and no wall link', async t => {
  const acts: [string, (on: Db, caller: Awaited<ReturnType<typeof createMember>>['caller']) => Promise<unknown>][] = [
    ['key', (on, caller) => createKeyAs(on, caller, { name: 'late', scope: 'admin' }, DEFAULT_LIMITS)],
    ['wall link', (on, caller) => createWallLink(on, caller, { name: 'Office' }, now)],
  ]
  for (const [what, act] of acts) {
    const { projectId, caller, become } = await createMember('admin')
    const made = runWhileLocked(db, become('viewer'), () => act(db, caller))
    await t.rejects(made, { status: 403, code: 'insufficient_scope', message: /your role is viewer/ }, what)
    t.same(await query(db, 'SELECT FROM api_keys WHERE project_id = ?', [projectId]), [])
    t.same(await query(db, 'SELECT FROM wall_links WHERE project_id = ?', [projectId]), [])
  }
})

t.test('An admin who becomes an editor keeps what editors may do', async t => {
  const { caller, become } = await createMember('admin')
  await become('editor')(db)
  await t.rejects(createKeyAs(db, caller, { name: 'late', scope: 'read' }, DEFAULT_LIMITS), {
    status: 403,
    message: 'this needs the role admin; your role is editor',
  })
  t.ok(await createWallLink(db, caller, { name: 'Office' }, now))
  await assertStillHasAccess(db, caller, 'write')
})

t.test('Long work of a person ends when the role does not allow it any more', async t => {
  const { caller, become } = await createMember('editor')
  await assertStillHasAccess(db, caller, 'write')
  await become('viewer')(db)
  const refusal = { status: 403, message: 'this needs the role editor; your role is viewer' }
  await t.rejects(assertStillHasAccess(db, caller, 'write'), refusal)
  await t.rejects(
    db.transaction(tx => assertCallerHasAccess(tx, caller, 'write')),
    refusal,
  )
})
