import t from 'tap'
import { settingsRoutes } from '../../control-plane/alerting/routing/settings-routes.ts'
import { createResourceApi } from '../support/resource-api.ts'

const api = await createResourceApi(t, settingsRoutes)

t.test('GET /alerts/settings 200 returns the defaults of a project without settings', async t => {
  const { call, projectId } = await api.account()
  const { status, body } = await call('GET /alerts/settings')
  t.equal(status, 200)
  const { created_at, updated_at, ...rest } = body.data
  t.same(rest, { id: projectId, is_digest_enabled: true, digest_threshold: 10, on_call_user_id: null })
  t.equal(created_at, updated_at)
})

t.test('PUT /alerts/settings 200 changes the given fields of the caller’s project only', async t => {
  const { call, callWith } = await api.account()
  const other = await api.account()
  t.match(await call('PUT /alerts/settings', { digest_threshold: 3 }), {
    status: 200,
    body: { data: { is_digest_enabled: true, digest_threshold: 3 } },
  })
  const off = await call('PUT /alerts/settings', { is_digest_enabled: false })
  t.match(off.body.data, { is_digest_enabled: false, digest_threshold: 3 })
  t.same((await call('PUT /alerts/settings', {})).body.data.digest_threshold, 3)
  t.match((await call('GET /alerts/settings')).body.data, { is_digest_enabled: false, digest_threshold: 3 })
  t.match((await other.call('GET /alerts/settings')).body.data, { is_digest_enabled: true, digest_threshold: 10 })
  const reader = await callWith('read')
  t.equal((await reader('GET /alerts/settings')).status, 200)
  t.equal((await reader('PUT /alerts/settings', { digest_threshold: 5 })).status, 403)
})

t.test('PUT /alerts/settings sets and removes the person on call; 404 for a user who is not a member', async t => {
  const { call, userId, organizationId } = await api.account()
  const other = await api.account()
  const named = await call('PUT /alerts/settings', { on_call_user_id: userId })
  t.match(named, { status: 200, body: { data: { on_call_user_id: userId } } })
  t.equal((await call('PUT /alerts/settings', { digest_threshold: 4 })).body.data.on_call_user_id, userId)
  for (const id of [other.userId, 'x', '0190a0a0-0000-7000-8000-000000000000']) {
    t.equal((await call('PUT /alerts/settings', { on_call_user_id: id })).status, 404, id)
  }
  t.equal((await call('GET /alerts/settings')).body.data.on_call_user_id, userId)
  t.equal((await call('PUT /alerts/settings', { on_call_user_id: null })).body.data.on_call_user_id, null)
  await call('PUT /alerts/settings', { on_call_user_id: userId })
  await api.db.raw('DELETE FROM memberships WHERE organization_id = ? AND user_id = ?', [organizationId, userId])
  t.equal((await call('GET /alerts/settings')).body.data.on_call_user_id, null, 'a former member is not on call')
})

t.test('PUT /alerts/settings 400 names the invalid field', async t => {
  const { call } = await api.account()
  const rows: [object, string][] = [
    [{ digest_threshold: 0 }, 'digest_threshold'],
    [{ digest_threshold: 1_001 }, 'digest_threshold'],
    [{ digest_threshold: 2.5 }, 'digest_threshold'],
    [{ digest_threshold: '10' }, 'digest_threshold'],
    [{ digest_threshold: null }, 'digest_threshold'],
    [{ is_digest_enabled: 1 }, 'is_digest_enabled'],
    [{ digest_window_seconds: 60 }, 'digest_window_seconds'],
  ]
  for (const [wrong, path] of rows) {
    const answer = await call('PUT /alerts/settings', wrong)
    t.match(answer, { status: 400, body: { error: { details: [{ path }] } } }, JSON.stringify(wrong))
  }
  t.match((await call('GET /alerts/settings')).body.data, { is_digest_enabled: true, digest_threshold: 10 })
})
