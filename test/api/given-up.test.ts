import t from 'tap'
import { startApi } from '../support/api-server.ts'
import { createDatabase } from '../support/database.ts'
import type { Teardown } from '../support/teardown.ts'

const monitor = { name: 'Shop', type: 'http', url: 'https://shop.example.com' }

/** An API whose connections have short time limits. */
async function impatientApi(t: Teardown, settings: string) {
  const url = new URL((await createDatabase(t)).url)
  url.searchParams.set('options', settings)
  return await startApi(t, { DATABASE_URL: url.href })
}

const LIMITS: [what: string, settings: string][] = [
  ['a lock', '-c lock_timeout=200ms'],
  ['a statement', '-c statement_timeout=3s'],
]

for (const [what, settings] of LIMITS) {
  t.test(
    `A change that exceeds the limit of ${what} is a 503 with Retry-After, stores nothing and may be repeated`,
    async t => {
      const api = await impatientApi(t, settings)
      const { key, organizationId } = await api.tenant('business')
      const create = () => api.call('POST', '/monitors', { key, body: monitor, headers: { 'idempotency-key': 'once' } })
      const holder = await api.db.transaction()
      await holder.raw('SET LOCAL idle_in_transaction_session_timeout = 0')
      await holder.raw('SELECT FROM organizations WHERE id = ? FOR UPDATE', [organizationId])
      const refused = await create()
      t.match(refused, { status: 503, body: { error: { code: 'unavailable', status: 503, message: /took too long/ } } })
      t.match(refused.headers.get('retry-after'), /^\d+$/)
      t.equal((await api.call('GET', '/monitors', { key })).body.meta.total, 0)
      await holder.rollback()
      t.equal((await create()).status, 201)
      t.equal((await api.call('GET', '/monitors', { key })).body.meta.total, 1)
    },
  )
}

t.test('A change that waits too long for its revision at the commit is rolled back', async t => {
  const api = await impatientApi(t, '-c lock_timeout=200ms')
  const { key } = await api.tenant('business')
  const holder = await api.db.transaction()
  await holder.raw('SET LOCAL idle_in_transaction_session_timeout = 0')
  await holder.raw('SELECT pg_advisory_xact_lock(7026001)')
  const refused = await api.call('POST', '/monitors', { key, body: monitor })
  t.match(refused, { status: 503, body: { error: { code: 'unavailable' } } })
  t.equal((await api.call('GET', '/monitors', { key })).body.meta.total, 0)
  await holder.rollback()
  t.equal((await api.call('POST', '/monitors', { key, body: monitor })).status, 201)
})
