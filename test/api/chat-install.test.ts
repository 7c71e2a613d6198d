import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { startChatProvider } from '../support/chat-provider.ts'
import { createDatabase } from '../support/database.ts'
import { createRecords } from '../support/records.ts'
import { createVisitor } from '../support/visitor.ts'

const provider = await startChatProvider(t)
const { url: databaseUrl } = await createDatabase(t)
const api = await startApi(t, { ...provider.env, DATABASE_URL: databaseUrl })
const mine = await api.tenant()

/** Begins an installation through the API. Returns its state. */
async function begin(key = mine.key, query = ''): Promise<string> {
  const { status, headers } = await api.call('GET', `/chat/oauth/install${query}`, { key })
  t.equal(status, 302)
  return new URL(headers.get('location')!).searchParams.get('state')!
}

const callback = (fields: Record<string, string>) =>
  api.call('GET', `/chat/oauth/callback?${new URLSearchParams(fields)}`, { key: null })

async function install(consent: Parameters<typeof provider.consent>[0] = {}, key = mine.key) {
  return callback({ state: await begin(key), code: provider.consent(consent) })
}

const installations = async (key = mine.key) => (await api.call('GET', '/chat/installations', { key })).body.data
const channels = async (key = mine.key) => (await api.call('GET', '/alerts/channels', { key })).body.data

t.test('GET /chat/oauth/install 302 redirects to the consent screen with seven scopes and a signed state', async t => {
  const { status, headers } = await api.call('GET', '/chat/oauth/install', { key: mine.key })
  const location = new URL(headers.get('location')!)
  t.equal(status, 302)
  t.equal(location.origin + location.pathname, `${provider.origin}/oauth/v2/authorize`)
  t.equal(location.searchParams.get('client_id'), provider.env.CHAT_CLIENT_ID)
  t.equal(
    location.searchParams.get('scope'),
    'chat:write,channels:read,commands,incoming-webhook,users:read,users:read.email,im:write',
  )
  t.match(location.searchParams.get('redirect_uri'), /\/api\/v1\/chat\/oauth\/callback$/)
  t.notMatch(location.href, /secret/)
})

t.test('GET /chat/oauth/install 400 for a page of another origin', async t => {
  const foreign = [
    'https://evil.example/',
    '//evil.example',
    'javascript:alert(1)',
    '/\\evil.example',
    'http:evil.example',
  ]
  for (const page of [...foreign, 'http://localhost:8080@evil.example/', '/\n/evil.example', ' /settings']) {
    const { status, body } = await api.call('GET', `/chat/oauth/install?redirect_to=${encodeURIComponent(page)}`)
    t.match({ status, body }, { status: 400, body: { error: { details: [{ path: 'redirect_to' }] } } }, page)
  }
})

t.test('GET /chat/oauth/install 409 for a key whose creator was deleted', async t => {
  const key = await api.createKey(mine, 'write')
  await api.db.raw(`UPDATE api_keys SET created_by = NULL WHERE scope = 'write'`)
  t.equal((await api.call('GET', '/chat/oauth/install', { key })).status, 409)
})

t.test('GET /chat/oauth/callback 302 stores the installation and creates a default channel', async t => {
  const state = await begin(mine.key, '?redirect_to=/settings/team%3Ftab%3Dchat')
  const done = await callback({ state, code: provider.consent() })
  t.equal(done.status, 302)
  t.equal(done.headers.get('location'), 'http://localhost:0/settings/team?tab=chat')
  t.equal(provider.calls('oauth.v2.access')[0]?.fields.redirect_uri, 'http://localhost:0/api/v1/chat/oauth/callback')
  const [installation, ...others] = await installations()
  t.same(others, [])
  t.match(installation, { team_id: 'T1', team_name: 'Team T1', installed_by: mine.userId, revoked_at: null })
  t.equal(installation.scopes.length, 7)
  const [channel] = await channels()
  t.match(channel, { name: '#c1 (Team T1)', type: 'chat_a', is_default: true, id: installation.default_channel_id })
  t.match(channel.config, { installation_id: installation.id, channel_id: 'C1' })
  const { body } = await api.call('GET', '/audit-log', { key: mine.key })
  const installed = body.data.find((entry: { resource: string }) => entry.resource === 'chat_installation')
  t.match(installed, { action: 'created', actor: { kind: 'user', id: mine.userId } })
})

t.test('The token of a team is not readable in the API or the database', async t => {
  const tables = ['chat_installations', 'alert_channels', 'audit_log', 'chat_spent']
  const rows = await Promise.all(
    tables.map(name => query(api.db, 'SELECT to_jsonb(x)::text FROM ?? x', [name] as never)),
  )
  const answers = [await installations(), await channels()]
  t.notMatch(JSON.stringify([rows, answers]), /xoxb-|secret-of-the-app/)
})

t.test('GET /chat/oauth/callback 302 installs a team again without a second installation or channel', async t => {
  const before = await installations()
  await execute(api.db, `UPDATE alert_channels SET is_paused = true, paused_at = now(), paused_reason = 'failures'`)
  t.equal((await install({ channel: 'C2' })).status, 302)
  const after = await installations()
  t.equal(after.length, 1)
  t.equal(after[0].id, before[0].id)
  const [channel, ...others] = await channels()
  t.same(others, [])
  t.match(channel, { name: '#c2 (Team T1)', config: { channel_id: 'C2' }, is_paused: false })
  await api.call('PUT', `/alerts/channels/${channel.id}`, { key: mine.key, body: { name: 'Night watch' } })
  await install()
  t.match(await channels(), [{ name: 'Night watch', config: { channel_id: 'C1' } }])
})

t.test(
  'GET /chat/oauth/callback 400 for an invalid, expired or used state, without a call of the provider',
  async t => {
    const asked = provider.calls('oauth.v2.access').length
    const used = await begin()
    await callback({ state: used, error: 'access_denied' })
    const [text = '', signature] = (await begin()).split('.')
    const other = {
      ...JSON.parse(Buffer.from(text, 'base64url').toString()),
      projectId: (await api.tenant()).projectId,
    }
    const forged = `${Buffer.from(JSON.stringify(other)).toString('base64url')}.${signature}`
    for (const state of [used, forged, text, `${text}.`, '', 'x.y', `${text}.${signature}.z`]) {
      const { status, body } = await callback({ state, code: provider.consent() })
      t.match({ status, body }, { status: 400, body: { error: { details: [{ path: 'state' }] } } })
      t.match(body.error.message, /start the installation again/)
    }
    t.equal((await callback({ code: 'x' })).status, 400)
    t.equal(provider.calls('oauth.v2.access').length, asked)
  },
)

t.test('GET /chat/oauth/callback accepts one of two requests with the same state', async t => {
  const state = await begin()
  const both = await Promise.all([1, 2].map(() => callback({ state, code: provider.consent() })))
  t.same(both.map(({ status }) => status).sort(), [302, 400])
})

t.test('GET /chat/oauth/callback 400 for a declined consent and for a used code', async t => {
  const declined = await callback({ state: await begin(), error: 'access_denied' })
  t.match(declined, { status: 400, body: { error: { message: /declined/ } } })
  const code = provider.consent()
  t.equal((await callback({ state: await begin(), code })).status, 302)
  const again = await callback({ state: await begin(), code })
  t.match(again, { status: 400, body: { error: { details: [{ path: 'code', message: /invalid_code/ }] } } })
  t.equal((await callback({ state: await begin() })).status, 400)
})

const HTML = { accept: 'text/html,*/*;q=0.8' }

/** Creates a signed-in member of a new organization. */
async function member(role: string) {
  const tenant = await api.tenant()
  const body = { email: `${crypto.randomUUID()}@example.com`, role }
  const invited = await api.call('POST', '/agent/invite', { key: tenant.key, body })
  const visitor = createVisitor(api.origin)
  await visitor.post(new URL(invited.body.data.claim_url).pathname, { password: 'correct horse battery' })
  return { ...tenant, visitor }
}

/** Returns from the consent screen in a browser. */
async function comeBack(visitor: ReturnType<typeof createVisitor>, fields: Record<string, string>) {
  const back = await visitor.get(`/api/v1/chat/oauth/callback?${new URLSearchParams(fields)}`, HTML)
  t.match(back, { status: 302, location: /^\/settings\/chat\/connect\?/ })
  return { path: back.location!, page: await visitor.get(back.location!, HTML) }
}

t.test('A signed-in editor installs the app without confirmation', async t => {
  const { visitor, key } = await member('editor')
  t.match((await visitor.get('/settings/chat')).text, /No team is connected/)
  const { status, location } = await visitor.get('/settings/chat/install')
  t.equal(status, 302)
  const state = new URL(location!).searchParams.get('state')!
  const { page } = await comeBack(visitor, { state, code: provider.consent({ team: 'T20' }) })
  t.match(page, { status: 302, location: 'http://localhost:0/settings/chat' })
  t.match(await visitor.get('/settings/chat'), { text: /Team T20/ })
  t.match(await installations(key), [{ team_id: 'T20' }])
})

t.test('Another browser has to confirm, and sees who started the installation and for which project', async t => {
  const { visitor: attacker, key, projectId } = await member('editor')
  await execute(api.db, `UPDATE projects SET name = '<b>Shop' WHERE id = ?`, [projectId])
  const { location } = await attacker.get('/settings/chat/install')
  const states = [new URL(location!).searchParams.get('state')!, await begin(key)]
  for (const state of states) {
    for (const { visitor } of [{ visitor: createVisitor(api.origin) }, await member('admin')]) {
      const { page, path } = await comeBack(visitor, { state, code: provider.consent({ team: 'T21' }) })
      t.match(page, { status: 200, text: /Connect your chat\?.*&lt;b>Shop.*Started by/s })
      t.match(page.headers.get('content-security-policy'), /frame-ancestors 'none'/)
      const forged = await visitor.post(path, {}, { ...HTML, origin: 'https://evil.example' })
      t.match(forged, { status: 403, text: /not sent from a page of this site/ })
    }
  }
  t.same(await installations(key), [], 'nothing happens before the confirmation')
})

t.test('A stranger who confirms connects the team and is redirected, or sees that it is connected', async t => {
  const { key } = await api.tenant()
  const stranger = createVisitor(api.origin)
  const done = await comeBack(stranger, { state: await begin(key), code: provider.consent({ team: 'T22' }) })
  t.match(await stranger.post(done.path, {}, HTML), { status: 200, text: /<strong dir="auto">Team T22<\/strong>/ })
  t.match(await installations(key), [{ team_id: 'T22' }])
  t.match(await stranger.post(done.path, {}, HTML), { status: 400, text: /This link has already been used/ })
  const long = `/settings/team?tab=${'x'.repeat(1_900)}`
  const state = await begin(key, `?redirect_to=${encodeURIComponent(long)}`)
  const there = await comeBack(stranger, { state, code: provider.consent({ team: 'T22' }) })
  t.match(await stranger.post(there.path, {}, HTML), { status: 303, location: `http://localhost:0${long}` })
})

t.test('An installation that was started with a read key needs the confirmation of an editor or admin', async t => {
  const { visitor: editor, ...tenant } = await member('editor')
  const viewer = createVisitor(api.origin)
  const body = { email: `${crypto.randomUUID()}@example.com`, role: 'viewer' }
  const invited = await api.call('POST', '/agent/invite', { key: tenant.key, body })
  await viewer.post(new URL(invited.body.data.claim_url).pathname, { password: 'correct horse battery' })
  const state = await begin(await api.createKey(tenant, 'read'))
  const fields = { state, code: provider.consent({ team: 'T23' }) }

  t.match(await callback(fields), {
    status: 403,
    body: { error: { code: 'insufficient_scope', message: /where an editor or admin of the project is signed in/ } },
  })
  const stranger = createVisitor(api.origin)
  const { page, path } = await comeBack(stranger, fields)
  t.match(page, { status: 303, location: `/sign-in?return_to=${encodeURIComponent(path)}` })
  t.equal((await stranger.post(path, {}, HTML)).status, 403)
  for (const { visitor } of [{ visitor: viewer }, await member('admin')]) {
    t.match((await comeBack(visitor, fields)).page, { status: 403, text: /only editors and admins of/i })
    t.equal((await visitor.post(path, {}, HTML)).status, 403)
  }
  const setProof = (awaitsProof: boolean) =>
    execute(
      api.db,
      `UPDATE memberships m SET awaits_proof = ? FROM projects p
       WHERE p.id = ? AND m.organization_id = p.organization_id AND m.role = 'editor'`,
      [awaitsProof, tenant.projectId],
    )
  await setProof(true)
  t.equal((await comeBack(editor, fields)).page.status, 403, 'a member whose address is not proven')
  t.equal((await editor.post(path, {}, HTML)).status, 403)
  await setProof(false)
  t.match((await comeBack(editor, fields)).page, { status: 200, text: /Connect your chat\?/ })
  t.same(await installations(tenant.key), [], 'nothing is connected yet')
  t.match(await editor.post(path, {}, HTML), { status: 200, text: /Team T23/ })
  t.match(await installations(tenant.key), [{ team_id: 'T23' }])
  t.not((await installations(tenant.key))[0].installed_by, tenant.userId, 'the editor who confirmed it')
})

t.test('A failed installation shows the reason', async t => {
  const visitor = createVisitor(api.origin)
  const { page } = await comeBack(visitor, { state: await begin(), error: 'access_denied<script>' })
  t.match(page, { status: 400, text: /The chat refused the installation; nothing has changed\./ })
  t.match(page.headers.get('content-type'), /^text\/html/)
  t.match(page.headers.get('content-security-policy'), /default-src 'none'/)
  t.notMatch(page.text, /<script>/)
  t.match((await comeBack(visitor, { state: 'x.y', code: 'x' })).page, { status: 400, text: /This link is invalid/ })
  t.match(await visitor.get('/settings/chat/connect?state=a&state=b', HTML), {
    status: 400,
    text: /This link is invalid/,
  })
})

t.test('The settings show the teams of the own project, and viewers cannot connect', async t => {
  t.match(await createVisitor(api.origin).get('/settings/chat'), {
    status: 303,
    location: '/sign-in?return_to=%2Fsettings%2Fchat',
  })
  const { visitor, ...tenant } = await member('viewer')
  t.match(await visitor.get('/settings/chat'), { status: 200, text: /No team is connected/ })
  t.match(await visitor.get('/settings/chat/install', HTML), { status: 403, text: /Only editors and admins/i })
  await createRecords(api, tenant)
  await execute(api.db, `UPDATE chat_installations SET team_name = '<b>Ops' WHERE project_id = ?`, [tenant.projectId])
  const page = await visitor.get('/settings/chat')
  t.match(page, { status: 200, text: /&lt;b>Ops/ })
  t.equal(page.headers.get('cache-control'), 'no-store')
  t.notMatch(page.text, /settings\/chat\/install/)
})

t.test('GET /chat/oauth/callback 503 for an unreachable provider or an invalid response stores nothing', async t => {
  const key = (await api.tenant()).key
  const responses: [string, object | number | 'hang' | 'reset', RegExp][] = [
    ['away', 500, /is unavailable/],
    ['gone', 'reset', /is unreachable/],
    ['silent', 'hang', /is unreachable/],
    ['busy', { status: 429, headers: { 'retry-after': '30' } }, /too many requests/],
    ['HTML', { status: 200, body: '<html>ok</html>' }, /invalid response/],
    ['no token', { ok: true, team: { id: 'T9', name: 'x' }, token_type: 'bot', scope: 'chat:write' }, /lacks a team/],
    [
      'a token with a line break',
      { ok: true, access_token: 'a\r\nb', token_type: 'bot', scope: 'chat:write' },
      /lacks/,
    ],
    ['no team', { ok: true, access_token: 'xoxb-x', token_type: 'bot', scope: 'chat:write', team: null }, /lacks/],
    [
      'a person’s token',
      { ok: true, access_token: 'x', token_type: 'user', team: { id: 'T9' }, scope: 'chat:write' },
      /bot/,
    ],
    ['nearly true', { ok: 'true', access_token: 'xoxb-x', team: { id: 'T9' } }, /invalid response/],
    [
      'no scope',
      { ok: true, access_token: 'x', token_type: 'bot', team: { id: 'T9' }, scope: 'commands' },
      /chat:write/,
    ],
  ]
  for (const [what, answer, message] of responses) {
    const state = await begin(key)
    provider.next('oauth.v2.access', answer)
    const { status, body } = await callback({ state, code: provider.consent() })
    t.match({ status, body }, { status: 503, body: { error: { code: 'unavailable', message } } }, what)
    t.notMatch(JSON.stringify(body), /xoxb/)
  }
  t.same(await installations(key), [])
  t.same(await channels(key), [])
})

t.test('GET /chat/oauth/callback 400 for a whole organization revokes the grant', async t => {
  const state = await begin()
  const enterprise = { id: 'E1', name: 'Acme' }
  const grant = { ok: true, access_token: 'xoxb-org', token_type: 'bot', scope: 'chat:write', team: null, enterprise }
  provider.next('oauth.v2.access', { ...grant, is_enterprise_install: true })
  t.match(await callback({ state, code: provider.consent() }), {
    status: 400,
    body: { error: { details: [{ path: 'code', message: /choose one team/ }] } },
  })
  t.equal(provider.calls('auth.revoke').at(-1)?.token, 'xoxb-org')
})

t.test('GET /chat/oauth/callback 409 for a team of another project', async t => {
  const other = await api.tenant()
  t.match(await install({}, other.key), { status: 409, body: { error: { message: /another project/ } } })
  t.same(await installations(other.key), [])
})

t.test(
  'DELETE /chat/installations/{id} 200 revokes the grant and deletes the channels, and 404 the second time',
  async t => {
    const other = await api.tenant()
    await install({ team: 'T2' }, other.key)
    const [{ id }] = await installations(other.key)
    t.equal((await api.call('DELETE', `/chat/installations/${id}`, { key: mine.key })).status, 404)
    const deleted = await api.call('DELETE', `/chat/installations/${id}`, { key: other.key })
    t.match(deleted, { status: 200, body: { data: { id, deleted: true } } })
    t.match(provider.calls('auth.revoke').at(-1)?.token, /^xoxb-\d+-T2$/)
    t.same(await channels(other.key), [])
    t.same(await installations(other.key), [])
    t.equal((await api.call('DELETE', `/chat/installations/${id}`, { key: other.key })).status, 404)
  },
)

t.test('DELETE /chat/installations/{id} 200 while the provider is unreachable revokes the grant later', async t => {
  const other = await api.tenant()
  await install({ team: 'T3' }, other.key)
  const [{ id }] = await installations(other.key)
  provider.next('auth.revoke', 500)
  t.equal((await api.call('DELETE', `/chat/installations/${id}`, { key: other.key })).status, 200)
  const pending = 'SELECT failures FROM chat_revocations WHERE team_id = ?'
  t.same(await query(api.db, pending, ['T3']), [{ failures: 1 }])
  await install({ team: 'T3' }, other.key)
  t.same(await query(api.db, pending, ['T3']), [], 'a team that installs again keeps its grant')
})

t.test('GET /chat/installations 200 lists all installations of a project, or a page', async t => {
  t.match(await api.call('GET', '/chat/installations', { key: mine.key }), {
    status: 200,
    body: { meta: { total: 1 } },
  })
  const page = await api.call('GET', '/chat/installations?page=2&per_page=1', { key: mine.key })
  const meta = { page: 2, per_page: 1, total: 1, total_pages: 1, is_app_configured: true }
  t.match(page, { status: 200, body: { data: [], meta } })
})

t.test('GET /chat/oauth/install 404 names the missing settings when no app is configured', async t => {
  const none = { CHAT_CLIENT_ID: '', CHAT_CLIENT_SECRET: '', CHAT_SIGNING_SECRET: '' }
  const bare = await startApi(t, { DATABASE_URL: databaseUrl, ...none })
  for (const [path, key] of [
    ['/chat/oauth/install', mine.key],
    ['/chat/oauth/callback?code=x&state=y', null],
  ] as const) {
    const answer = await bare.call('GET', path, { key })
    t.match(answer, { status: 404, body: { error: { code: 'not_found', message: /CHAT_CLIENT_ID/ } } }, path)
  }
  t.equal((await fetch(`${bare.origin}/chat/commands`, { method: 'POST' })).status, 404)
  const { body } = await bare.call('GET', '/chat/installations', { key: mine.key })
  t.equal(body.meta.is_app_configured, false)
})

t.test('GET /chat/installations/{id}/channels 200 lists the channels of the team by name', async t => {
  const { key } = await api.tenant()
  t.equal((await install({ team: 'T9' }, key)).status, 302)
  const [installation] = await installations(key)
  const list = (query = '') => api.call('GET', `/chat/installations/${installation.id}/channels${query}`, { key })
  const { status, body } = await list()
  t.equal(status, 200)
  t.same(
    body.data.map(({ id }: { id: string }) => id),
    provider.channels,
  )
  t.match((await list('?q=c2')).body, { data: [{ id: 'C2' }], meta: { total: 1 } })
  t.equal((await list('?page=0')).status, 400)
  const other = await api.call('GET', `/chat/installations/${installation.id}/channels`, { key: mine.key })
  t.equal(other.status, 404)
})
