import t from 'tap'
import { createApiKey, createAuthenticator } from '../../../control-plane/accounts/api-keys/actions.ts'
import {
  createOperatorKey,
  createOperatorProject,
} from '../../../control-plane/accounts/organizations/operator-project-actions.ts'
import { findOperatorProjectId } from '../../../control-plane/accounts/organizations/operator-project-store.ts'
import { findProject } from '../../../control-plane/accounts/plans/store.ts'
import { listUserOrganizations } from '../../../control-plane/accounts/sessions/store.ts'
import { createPostgres, query } from '../../../control-plane/foundation/platform/postgres/client.ts'
import { createDatabase } from '../../support/database.ts'
import { insertTenant } from '../../support/tenant.ts'

const db = createPostgres((await createDatabase(t)).url)
t.teardown(() => db.destroy())
const publicUrl = 'https://picket.test'

t.test('Concurrent and repeated commands create one operator project', async t => {
  t.equal(await findOperatorProjectId(db), null)
  await t.rejects(createOperatorKey(db), /the operator project does not exist/)
  const made = await Promise.all(
    ['a@example.com', 'B@example.com', 'a@example.com'].map(email => createOperatorProject(db, { email, publicUrl })),
  )
  t.equal(new Set(made.map(({ project_id }) => project_id)).size, 1)
  t.equal(made.filter(({ api_key }) => api_key !== null).length, 1, 'one of them got the key')
  t.match(await findProject(db, made[0]!.project_id), { name: 'Operator', plan: 'business' })
  t.equal(await findOperatorProjectId(db), made[0]!.project_id)
  const users = await query<{ count: number }>(db, 'SELECT count(*) FROM users')
  t.equal(users[0]!.count, 1, 'later calls left no user')
})

t.test('Keys of the operator project are distinguished from all others', async t => {
  const authenticate = createAuthenticator(db)
  t.match(await authenticate(await createOperatorKey(db), '192.0.2.1'), { scope: 'admin', isOperator: true })
  const { projectId, userId } = await insertTenant(db)
  const { key } = await createApiKey(db, { projectId, userId }, { name: 'test', scope: 'admin' })
  t.match(await authenticate(key, '192.0.2.1'), { scope: 'admin', isOperator: false })
})

t.test('A user with a confirmed address becomes admin; an unconfirmed account needs the link', async t => {
  for (const isProven of [true, false]) {
    const { url } = await createDatabase(t)
    const other = createPostgres(url)
    t.teardown(() => other.destroy())
    const { userId } = await insertTenant(other)
    const sql = `UPDATE users SET email_proven_at = CASE WHEN ? THEN now() END RETURNING email`
    const [user] = await query<{ email: string }>(other, sql, [isProven])
    const made = await createOperatorProject(other, { email: user!.email.toUpperCase(), publicUrl })
    t.match(made, { api_key: /^svc_/, claim_url: isProven ? null : /\/claim\// })
    t.match(await createAuthenticator(other)(made.api_key!, '192.0.2.1'), {
      userId,
      projectId: made.project_id,
      isOperator: true,
    })
    const entered = await listUserOrganizations(other, userId)
    t.equal(entered.length, isProven ? 2 : 1, 'the operator organization is open, or waits')
    const links = await query(other, 'SELECT 1 FROM claim_links WHERE proves_email')
    t.equal(links.length, isProven ? 0 : 1)
  }
})
