import t from 'tap'
import { lockOrganizationsToReview, suspendOthers } from '../../../control-plane/accounts/access-review/actions.ts'
import { createApiKey, createAuthenticator, createKeyAs } from '../../../control-plane/accounts/api-keys/actions.ts'
import { DEFAULT_LIMITS } from '../../../control-plane/accounts/plans/plans.ts'
import { insertOrganization, insertUser } from '../../../control-plane/accounts/registration/store.ts'
import { newId } from '../../../control-plane/foundation/platform/ids.ts'
import { createPostgres, type Db, query, type Tx } from '../../../control-plane/foundation/platform/postgres/client.ts'
import type { ApiCaller } from '../../../control-plane/foundation/web/auth/authentication.ts'
import { createWallLink } from '../../../control-plane/insight/live/wall-links/actions.ts'
import { createDatabase } from '../../support/database.ts'
import { runWhileLocked } from '../../support/while-held.ts'

const db = createPostgres((await createDatabase(t)).url, 8)
t.teardown(() => db.destroy())
const now = new Date('2026-11-21T10:00:00Z')

/** Creates an organization with another person's address, and a caller with its key. */
async function founded() {
  const [organizationId, projectId, userId] = [newId(), newId(), newId()]
  const email = `${userId}@example.com`
  const { key } = await db.transaction(async tx => {
    await insertUser(tx, { userId, email, name: null, now })
    const named = { name: 'Acme', projectName: 'Acme', plan: 'free' as const }
    await insertOrganization(tx, { organizationId, projectId, userId, ...named, now })
    return createApiKey(tx, { projectId, userId }, { name: 'first', scope: 'admin' })
  })
  const owner = {
    ...{ userId, email, name: null, isClaimed: false },
    ...{ provesEmail: true, organizationId: null, opensReview: true },
  }
  const prove = async (tx: Tx) =>
    suspendOthers(tx, { id: userId, email }, '192.0.2.1', await lockOrganizationsToReview(tx, owner))
  const working = () =>
    query<{ name: string }>(db, 'SELECT name FROM api_keys WHERE project_id = ? AND suspended_at IS NULL', [projectId])
  return { key, projectId, prove, working, caller: (await createAuthenticator(db)(key, '192.0.2.1')) as ApiCaller }
}

t.test('The creation of a key that waits for the proof of the address is refused', async t => {
  const { key, prove, working, caller } = await founded()
  const made = runWhileLocked(db, prove, () =>
    createKeyAs(db, caller, { name: 'late', scope: 'admin' }, DEFAULT_LIMITS),
  )
  await t.rejects(made, { status: 401, code: 'api_key_suspended' })
  t.same(await working(), [])
  t.equal(await createAuthenticator(db)(key, '192.0.2.1'), 'suspended')
})

t.test('A key that is being created during the proof is suspended with the others', async t => {
  const { projectId, prove, working, caller } = await founded()
  const making = async (tx: Tx) =>
    void (await createKeyAs(tx, caller, { name: 'just before', scope: 'read' }, DEFAULT_LIMITS))
  await runWhileLocked(db, making, () => db.transaction(prove))
  t.same(await working(), [])
  const all = await query(db, 'SELECT FROM api_keys WHERE project_id = ?', [projectId])
  t.equal(all.length, 2)
})

t.test('A wall link is refused or deleted when it is created during the proof of the address', async t => {
  for (const isBefore of [true, false]) {
    const { projectId, prove, caller } = await founded()
    const create = (on: Db) => createWallLink(on, caller, { name: 'Office' }, now)
    if (isBefore) await runWhileLocked(db, create, () => db.transaction(prove))
    else
      await t.rejects(
        runWhileLocked(db, prove, () => create(db)),
        { status: 401, code: 'api_key_suspended' },
      )
    t.same(await query(db, 'SELECT name FROM wall_links WHERE project_id = ?', [projectId]), [])
  }
})

t.test('A key that was just deleted cannot create another one', async t => {
  const { working, projectId, caller } = await founded()
  await query(db, 'DELETE FROM api_keys WHERE project_id = ? RETURNING id', [projectId])
  await t.rejects(createKeyAs(db, caller, { name: 'late', scope: 'admin' }, DEFAULT_LIMITS), {
    status: 401,
    code: 'unauthorized',
  })
  t.same(await working(), [])
})
