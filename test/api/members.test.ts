import t from 'tap'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { shareApi } from '../support/api-server.ts'

const api = await shareApi()
const unique = (() => {
  let count = 0
  return (name: string) => `${name}-${++count}@example.com`
})()

const invite = (key: string, body: object) => api.call('POST', '/agent/invite', { key, body })
const members = async (key: string) => (await api.call('GET', '/members', { key })).body.data

t.test('POST /agent/invite answers 200: a new person is a member immediately and gets a claim link', async t => {
  const { key } = await api.tenant()
  const email = unique('Ann')
  const { status, body } = await invite(key, { email, name: 'Ann' })
  t.equal(status, 200)
  t.match(body.data, { email: email.toLowerCase(), role: 'editor', is_new_account: true })
  t.match(body.data.claim_url, /^http.*\/claim\/[\w-]{43}$/)
  t.match(await members(key), [{ user_id: body.data.user_id, role: 'editor', name: 'Ann', is_claimed: false }, {}])
})

t.test(
  'POST /agent/invite answers 200: a person with an account is added, and the answer contains no link',
  async t => {
    const email = unique('bob')
    await invite((await api.tenant()).key, { email })
    const { key } = await api.tenant()
    const { status, body } = await invite(key, { email, role: 'viewer' })
    t.equal(status, 200)
    t.match(body.data, { email, role: 'viewer', is_new_account: false })
    t.notOk('claim_url' in body.data)
    const again = await api.call('POST', `/members/${body.data.user_id}/claim-link`, { key })
    t.match(again, { status: 409, body: { error: { code: 'conflict', message: /elsewhere/ } } })
  },
)

t.test('POST /agent/invite answers 409 for a member and 402 above the plan, also to concurrent requests', async t => {
  const { key } = await api.tenant('free')
  const email = unique('carl')
  t.equal((await invite(key, { email })).status, 200)
  t.match(await invite(key, { email: email.toUpperCase() }), { status: 409, body: { error: { code: 'conflict' } } })
  const answers = await Promise.all(Array.from({ length: 6 }, () => invite(key, { email: unique('dora') })))
  const statuses = answers.map(({ status }) => status).sort()
  t.same(statuses, [200, 402, 402, 402, 402, 402])
  t.match(answers.find(({ status }) => status === 402)!.body.error.message, /3 members and 3 are in use/)
  t.equal((await members(key)).length, 3)
})

t.test('POST /agent/invite and PUT /members/{user_id} 400 name the invalid field and change nothing', async t => {
  const { key, userId } = await api.tenant()
  const before = await members(key)
  const refusal = (path: string) => ({
    status: 400,
    body: { error: { code: 'validation_error', details: [{ path, message: String }] } },
  })
  t.match(await invite(key, { email: 'not an address' }), refusal('email'))
  t.match(await invite(key, { email: unique('hugo'), role: 'owner' }), refusal('role'))
  t.match(await api.call('PUT', `/members/${userId}`, { key, body: { role: 'owner' } }), refusal('role'))
  t.same(await members(key), before)
})

t.test('Concurrent invitations by two organizations create one account that is a member of both', async t => {
  const keys = await Promise.all([api.tenant(), api.tenant()])
  const email = unique('eve')
  const answers = await Promise.all(keys.map(({ key }) => invite(key, { email })))
  t.same(
    answers.map(({ status }) => status),
    [200, 200],
  )
  t.equal(answers.filter(({ body }) => body.data.is_new_account).length, 1)
  t.equal(new Set(answers.map(({ body }) => body.data.user_id)).size, 1)
})

t.test(
  'PUT /members/{user_id} changes a role, but not that of the last admin, also under concurrent requests',
  async t => {
    const { key, userId } = await api.tenant()
    const put = (id: string, role: string) => api.call('PUT', `/members/${id}`, { key, body: { role } })
    const lastAdmin = { status: 409, body: { error: { message: /last admin/ } } }
    t.match(await put(userId, 'viewer'), lastAdmin)
    t.match(await api.call('DELETE', `/members/${userId}`, { key }), lastAdmin)
    const other = (await invite(key, { email: unique('finn') })).body.data.user_id
    t.match(await put(other, 'admin'), { status: 200, body: { data: { role: 'admin', id: other } } })
    const both = await Promise.all([
      put(userId, 'editor'),
      api.call('DELETE', `/members/${other}`, { key }),
      put(other, 'viewer'),
    ])
    t.ok(both.some(({ status }) => status === 409))
    const left = await members(key)
    t.equal(left.filter(({ role }: { role: string }) => role === 'admin').length, 1)
  },
)

t.test('DELETE /members/{user_id} ends the membership, keeps the keys, and is in the audit log', async t => {
  const { key } = await api.tenant()
  const { user_id: id } = (await invite(key, { email: unique('gus') })).body.data
  t.match(await api.call('DELETE', `/members/${id}`, { key }), { status: 200, body: { data: { id, deleted: true } } })
  t.equal((await api.call('DELETE', `/members/${id}`, { key })).status, 404)
  t.equal((await members(key)).length, 1)
  const log = await api.call('GET', '/audit-log?resource=member', { key })
  t.match(log.body.data, [
    { action: 'deleted', resource_id: id, actor: { kind: 'api_key' } },
    { action: 'created', resource_id: id },
  ])
})

t.test('A new claim link replaces the one before; a member with a password gets none', async t => {
  const { key } = await api.tenant()
  const invited = (await invite(key, { email: unique('hal') })).body.data
  const link = await api.call('POST', `/members/${invited.user_id}/claim-link`, { key })
  t.match(link, { status: 201, body: { data: { claim_url: /\/claim\//, claim_expires_in: '72h' } } })
  t.equal((await fetch(invited.claim_url.replace(/^http:\/\/[^/]+/, api.origin))).status, 404)
  t.equal((await fetch(link.body.data.claim_url.replace(/^http:\/\/[^/]+/, api.origin))).status, 200)
  await query(api.db, `UPDATE users SET password_hash = 'x' WHERE id = ? RETURNING id`, [invited.user_id])
  t.equal((await api.call('POST', `/members/${invited.user_id}/claim-link`, { key })).status, 409)
})
