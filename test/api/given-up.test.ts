import t from 'tap'
import type { ApiTimeLimits } from '../../control-plane/operations/roles/time-limits.ts'
import { startApi } from '../support/api-server.ts'
import { openTransaction } from '../support/open-transaction.ts'
import { waitFor } from '../support/wait.ts'

const monitor = { name: 'Shop', type: 'http', url: 'https://shop.example.com' }

const LIMITS: [what: string, limits: Partial<ApiTimeLimits>][] = [
  ['a lock', { lockMs: 200 }],
  ['a statement', { statementMs: 5_000 }],
]

for (const [what, limits] of LIMITS) {
  t.test(
    `A change that exceeds the limit of ${what} is a 503 with Retry-After, stores nothing and may be repeated`,
    async t => {
      const api = await startApi(t, {}, limits)
      const { key, organizationId } = await api.tenant('business')
      const create = () => api.call('POST', '/monitors', { key, body: monitor, headers: { 'idempotency-key': 'once' } })
      const holder = await openTransaction(api.db)
      await holder.raw('SELECT FROM organizations WHERE id = ? FOR UPDATE', [organizationId])
      const refused = await create()
      t.match(refused, { status: 503, body: { error: { code: 'unavailable', status: 503, message: /took too long/ } } })
      t.match(refused.headers.get('retry-after'), /^\d+$/)
      t.equal((await api.call('GET', '/monitors', { key })).body.meta.total, 0)
      await holder.rollback()
      // a pause of the machine as long as the limit gives another 503, which may be repeated too
      await waitFor(async () => (await create()).status === 201)
      t.equal((await api.call('GET', '/monitors', { key })).body.meta.total, 1)
    },
  )
}

t.test('A change that waits too long for its revision at the commit is rolled back', async t => {
  const api = await startApi(t, {}, { lockMs: 200 })
  const { key } = await api.tenant('business')
  const holder = await openTransaction(api.db)
  await holder.raw('SELECT pg_advisory_xact_lock(7026001)')
  const refused = await api.call('POST', '/monitors', { key, body: monitor })
  t.match(refused, { status: 503, body: { error: { code: 'unavailable' } } })
  t.equal((await api.call('GET', '/monitors', { key })).body.meta.total, 0)
  await holder.rollback()
  t.equal((await api.call('POST', '/monitors', { key, body: monitor })).status, 201)
})
