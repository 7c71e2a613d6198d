import t from 'tap'
import { createApiKey, createAuthenticator } from '../../control-plane/accounts/api-keys/actions.ts'
import { createPostgres, execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { setClockSource } from '../../control-plane/foundation/platform/time/clock.ts'
import { createPublicLookup } from '../../control-plane/foundation/web/limits/public-lookup.ts'
import { createDatabase } from '../support/database.ts'
import { insertTenant } from '../support/tenant.ts'
import { waitFor } from '../support/wait.ts'

const HOUR_MS = 3_600_000
const NETWORK = '192.0.2.1'

let aheadMs = 0
setClockSource({ nowMs: () => Date.now() + aheadMs })
t.teardown(() => setClockSource({ nowMs: () => null }))

const db = createPostgres((await createDatabase(t)).url)
t.teardown(() => db.destroy())

t.test('A deleted API key stops working within seconds, also when the clock was set back', async t => {
  const { projectId, userId } = await insertTenant(db)
  const { key, id } = await createApiKey(db, { projectId, userId }, { name: 'test', scope: 'admin' })
  const authenticate = createAuthenticator(db)
  t.match(await authenticate(key, NETWORK), { projectId })
  aheadMs -= HOUR_MS
  await execute(db, 'DELETE FROM api_keys WHERE id = ?', [id])
  await waitFor(async () => (await authenticate(key, NETWORK)) === null, { label: 'the end of the key' })
})

t.test('A page that was requested before it was published is found, also when the clock was set back', async t => {
  const lookUp = createPublicLookup({ what: 'status pages', missesPerMinute: 1_000 })
  let isPublished = false
  const find = async () => (isPublished ? 'page' : null)
  t.equal(await lookUp(NETWORK, 'acme', find), null)
  isPublished = true
  aheadMs -= HOUR_MS
  await waitFor(() => lookUp(NETWORK, 'acme', find), { label: 'the page' })
})
