import { request } from 'node:http'
import t from 'tap'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { lockForImport } from '../../control-plane/integrations/import-export/import/lock-store.ts'
import { startApi } from '../support/api-server.ts'
import { buildFile } from '../support/import-load.ts'
import { keepOpen } from '../support/open-transaction.ts'
import { waitFor } from '../support/wait.ts'

t.test('POST /import changes nothing when the client disconnects', async t => {
  const api = await startApi(t)
  const { key, projectId } = await api.tenant()
  const waits = async () => {
    const sql = `SELECT count(*) AS total FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`
    return (await query<{ total: number }>(api.db, sql))[0]!.total > 0
  }
  const left = request(`${api.origin}/api/v1/import?dry_run=false`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  })
  left.on('error', () => {})
  await api.db.transaction(async tx => {
    await keepOpen(tx)
    await lockForImport(tx, projectId)
    left.end(JSON.stringify(buildFile(500, 1_000)))
    await waitFor(waits, { label: 'the import to wait' })
    left.destroy()
    // when another request has been answered, the process has noticed it
    t.equal((await api.call('GET', '/project', { key })).status, 200)
  })
  const next = await api.call('POST', '/import', { key, body: buildFile(1, 1_000) })
  t.equal(next.status, 200, 'the next import runs')
  t.equal((await api.call('GET', '/monitors', { key })).body.meta.total, 0)
})

t.test('An import whose key is deleted while it waits changes nothing', async t => {
  const api = await startApi(t)
  const { key, ...tenant } = await api.tenant()
  const other = await api.createKey(tenant, 'admin')
  const sql = 'SELECT id FROM api_keys WHERE project_id = ? ORDER BY created_at LIMIT 1'
  const [first] = await query<{ id: string }>(api.db, sql, [tenant.projectId])
  const waits = async () => {
    const sql = `SELECT count(*) AS total FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`
    return (await query<{ total: number }>(api.db, sql))[0]!.total > 0
  }
  const importing = await api.db.transaction(async tx => {
    await keepOpen(tx)
    await lockForImport(tx, tenant.projectId)
    const answer = api.call('POST', '/import?dry_run=false', { key, body: buildFile(1, 1_000) })
    await waitFor(waits, { label: 'the import to wait' })
    t.equal((await api.call('DELETE', `/api-keys/${first!.id}`, { key: other })).status, 200)
    return [answer]
  })
  t.match(await importing[0], { status: 401, body: { error: { message: 'the API key is not valid' } } })
  t.equal((await api.call('GET', '/monitors', { key: other })).body.meta.total, 0)
})
