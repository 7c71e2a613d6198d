import t from 'tap'
import { execute } from '../../control-plane/platform/postgres.ts'
import { startApi } from '../support/api-server.ts'
import { createRecords } from '../support/records.ts'
import { createVisitor } from '../support/visitor.ts'

const api = await startApi(t)
const HTML = { accept: 'text/html' }

/** Somebody of a new organization who is signed in. */
async function member(role: string) {
  const tenant = await api.tenant()
  const body = { email: `${crypto.randomUUID()}@example.com`, role }
  const invited = await api.call('POST', '/agent/invite', { key: tenant.key, body })
  const visitor = createVisitor(api.origin)
  await visitor.post(new URL(invited.body.data.claim_url).pathname, { password: 'correct horse battery' })
  return { ...tenant, visitor, userId: invited.body.data.user_id as string }
}

t.test('who is signed in sees the teams that are connected, and connects another', async t => {
  const { visitor, ...tenant } = await member('editor')
  t.match((await visitor.get('/settings/chat')).text, /No team is connected yet/)
  await createRecords(api, tenant)
  await execute(api.db, `UPDATE chat_installations SET team_name = '<b>Ops' WHERE project_id = ?`, [tenant.projectId])
  const page = await visitor.get('/settings/chat')
  t.match(page, { status: 200, text: /&lt;b>Ops/ })
  t.equal(page.headers.get('cache-control'), 'no-store')
  const consent = await visitor.get('/settings/chat/install')
  t.equal(consent.status, 302)
  const { searchParams } = new URL(consent.location!)
  t.match(searchParams.get('scope'), 'im:write')
  t.ok(searchParams.get('state'))
})

t.test('who is not signed in is asked to, viewers look only, and other projects are not seen', async t => {
  t.match(await createVisitor(api.origin).get('/settings/chat'), {
    status: 303,
    location: '/sign-in?return_to=/settings/chat',
  })
  const { visitor } = await member('viewer')
  t.match(await visitor.get('/settings/chat'), { status: 200, text: /No team is connected/ })
  t.notMatch((await visitor.get('/settings/chat')).text, /settings\/chat\/install/)
  t.match(await visitor.get('/settings/chat/install', HTML), { status: 403, text: /Only editors and admins/i })
})
