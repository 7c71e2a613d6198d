import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { startChatProvider } from '../support/chat-provider.ts'
import { createChatTeam } from '../support/chat-team.ts'
import { keepOpen } from '../support/open-transaction.ts'
import { waitFor } from '../support/wait.ts'
import { runWhileLocked } from '../support/while-held.ts'

const provider = await startChatProvider(t)
const api = await startApi(t, { ...provider.env, ROLES: 'api,deliver,schedule' })
const team = createChatTeam(api, provider)

/** Creates a project whose team has the app, with a channel that is subscribed to incidents. */
async function project(teamId: string, consent: object = {}) {
  const account = await api.tenant()
  const installation = await team.install(account, { team: teamId, ...consent })
  const channelId = await team.channel(account, installation.id)
  const { key } = account
  const subscribe = (alert_channel_id: string) =>
    api.call('POST', '/alerts/project-channels', { key, body: { alert_channel_id, alert_type: 'incident' } })
  await subscribe(channelId)
  const log = async () => (await api.call('GET', `/alerts/log?channel_id=${channelId}`, { key })).body.data
  const ended = (count: number) =>
    waitFor(async () => {
      const entries = (await log()).filter(({ status }: { status: string }) => status !== 'pending')
      return entries.length >= count ? entries : null
    })
  const read = async () => (await api.call('GET', '/chat/installations', { key })).body.data[0]
  return { account, key, installation, channelId, log, ended, read, teamId }
}

const messagesTo = (channel: string) => provider.bodies('chat.postMessage').filter(body => body.channel === channel)

t.test('An incident is posted with a button, and the token is not stored with the delivery', async t => {
  const { account, ended, key } = await project('T1')
  await team.incident(account, 'Shop <!channel> is slow')
  const [entry] = await ended(1)
  t.match(entry, { status: 'delivered', request_url: `${provider.origin}/api/chat.postMessage` })
  t.equal(entry.request_headers.authorization, '********')
  const [called] = provider.calls('chat.postMessage')
  t.match(called, { token: /^xoxb-\d+-T1$/ })
  const [message] = messagesTo('C2')
  const [acknowledge] = message.blocks.find(({ type }: { type: string }) => type === 'actions').elements
  t.match(acknowledge, { action_id: 'acknowledge' })
  t.notOk(acknowledge.url, 'a button, not a link')
  t.notMatch(JSON.stringify(message), /<!channel>/)
  const rows = await query(api.db, `SELECT to_jsonb(d)::text, convert_from(request_body, 'UTF8') FROM deliveries d`)
  const { body } = await api.call('GET', `/alerts/log/${entry.id}`, { key })
  t.notMatch(JSON.stringify([rows, body]), /xoxb/)
})

/** Wakes the worker, which otherwise looks every ten seconds. */
const wakeWorker = () => api.db.raw('NOTIFY chat')

t.test('The button of an acknowledged incident is removed from every message', async t => {
  const { account, ended, key } = await project('T2')
  const id = await team.incident(account, 'Mail is slow')
  await ended(1)
  await api.call('POST', `/incidents/${id}/acknowledge`, { key })
  await wakeWorker()
  const update = await waitFor(() => provider.calls('chat.update')[0])
  t.match(update, { token: /-T2$/, fields: { channel: 'C1', ts: /^17/, text: /Mail is slow/ } })
  t.notMatch(update.fields.blocks, /"acknowledge"/)
  t.match(update.fields.blocks, /Acknowledged/)
})

t.test('A team whose provider asks for a delay does not delay other teams', async t => {
  const [first, second] = [await project('T12'), await project('T13')]
  const acknowledge = async (of: typeof first, title: string) => {
    const id = await team.incident(of.account, title)
    await of.ended(1)
    await api.call('POST', `/incidents/${id}/acknowledge`, of)
  }
  const listUpdates = (teamId: string) =>
    provider.calls('chat.update').filter(({ token }) => token.endsWith(`-${teamId}`))
  provider.next('chat.update', { status: 429, headers: { 'retry-after': '600' } })
  await acknowledge(first, 'Left is slow')
  await wakeWorker()
  await waitFor(() => listUpdates('T12')[0])
  await acknowledge(second, 'Right is slow')
  await wakeWorker()
  t.ok(await waitFor(() => listUpdates('T13')[0]))
  t.equal(listUpdates('T12').length, 1, 'the provider asked for a delay')
  // the next test counts what is posted
  await Promise.all([first.ended(2), second.ended(2)])
})

t.test('A team that removes the app is marked before the next message', async t => {
  const { read } = await project('T14')
  t.equal((await read()).revoked_at, null)
  const challenge = JSON.stringify({ type: 'url_verification', challenge: 'say this' })
  const asked = await fetch(`${api.origin}/chat/events`, {
    method: 'POST',
    headers: { ...provider.signed(challenge), 'content-type': 'application/json' },
    body: challenge,
  })
  t.equal(await asked.text(), 'say this')
  const sendEvent = (event: object) => {
    const text = JSON.stringify({ type: 'event_callback', team_id: 'T14', event_time: 1, event })
    return team.send('/chat/events', text, provider.signed(text))
  }
  const tests = () => provider.calls('auth.test').filter(({ token }) => token.endsWith('-T14'))
  await waitFor(() => tests()[0])
  t.same(await sendEvent({ type: 'app_uninstalled' }), { status: 200, body: null })
  await waitFor(() => tests()[1])
  t.equal((await read()).revoked_at, null, 'an outdated event: the team still has the app')
  provider.refuse(tests()[0]!.token, 'account_inactive')
  await sendEvent({ type: 'tokens_revoked', tokens: { bot: ['U0'] } })
  await waitFor(async () => (await read()).revoked_at)
})

t.test('A rate-limited message is retried after the requested delay', async t => {
  const { account, ended } = await project('T3')
  const before = provider.calls('chat.postMessage').length
  provider.next('chat.postMessage', { status: 429, headers: { 'retry-after': '2' } })
  await team.incident(account, 'Search is slow')
  const [entry] = await ended(1)
  t.match(entry, { status: 'delivered', attempts: { length: 2 } })
  t.match(entry.attempts, [{ response_code: 429, error: /rate limit/ }, { error: null }])
  const [first, second] = provider.calls('chat.postMessage').slice(before)
  t.ok(second!.received.atMs - first!.received.atMs >= 1_990, 'not before the requested two seconds')
  t.equal(second!.received.rawBody, first!.received.rawBody, 'the same bytes')
})

t.test('A permanent refusal is not retried', async t => {
  const { account, ended } = await project('T4')
  provider.next('chat.postMessage', { ok: false, error: 'channel_not_found' })
  await team.incident(account, 'DNS is slow')
  t.match(await ended(1), [{ status: 'failed', attempts: [{ response_code: 200, error: /channel_not_found/ }] }])
})

t.test('An HTML response is not a delivery', async t => {
  const { account, ended } = await project('T5')
  provider.next('chat.postMessage', { status: 200, body: '<html>ok</html>' })
  await team.incident(account, 'Login is slow')
  const [entry] = await ended(1)
  t.match(entry, { status: 'delivered', attempts: [{ error: /cannot be read/ }, { error: null }] })
})

t.test(
  'A team that removed the app is marked as revoked, and its API is not called until it installs again',
  async t => {
    const { account, ended, read, key, installation } = await project('T6')
    provider.next('chat.postMessage', { ok: false, error: 'token_revoked' })
    await team.incident(account, 'First')
    t.match(await ended(1), [{ status: 'failed', attempts: [{ error: /token_revoked/ }] }])
    await waitFor(async () => (await read()).revoked_at)
    const asked = provider.calls('chat.postMessage').length
    await team.incident(account, 'Second')
    const [second] = await ended(2)
    t.match(second, { status: 'failed', attempts: [{ error: /removed the app/ }] })
    t.equal(provider.calls('chat.postMessage').length, asked)
    t.match(await api.call('GET', `/chat/installations/${installation.id}/channels`, { key }), { status: 409 })
    const again = await team.install(account, { team: 'T6' })
    t.match(again, { id: installation.id, revoked_at: null })
    await api.call('POST', `/alerts/log/${second.id}/retry`, { key })
    await waitFor(async () => (await ended(2)).find(({ status }: { status: string }) => status === 'delivered'))
  },
)

t.test('An expired token is renewed once, and the message arrives with the new one', async t => {
  const { account, ended } = await project('T7', { expiresIn: 43_200 })
  const before = provider.calls('oauth.v2.access').length
  provider.next('chat.postMessage', { ok: false, error: 'token_expired' })
  await team.incident(account, 'Cache is slow')
  t.match(await ended(1), [{ status: 'delivered', attempts: [{ error: /token_expired/ }, { error: null }] }])
  const renewals = provider.calls('oauth.v2.access').slice(before)
  t.match(renewals, [{ fields: { grant_type: 'refresh_token', refresh_token: /^xoxe/ } }])
  t.equal(renewals.length, 1)
  const [old, renewed] = provider.calls('chat.postMessage').slice(-2)
  t.not(old!.token, renewed!.token)
})

t.test('The person on call and the person who acknowledged get direct messages', async t => {
  const { account, key, installation, log, ended } = await project('T8')
  const names = ['ann', 'bob'].map(name => `${name}@t8.example.com`)
  const [ann, bob] = [await team.member(account, 'editor', names[0]!), await team.member(account, 'admin', names[1]!)]
  provider.people.push({ id: 'UANN', email: names[0]!, team: 'T8' }, { id: 'UBOB', email: names[1]!, team: 'T8' })
  await team.install(account, { team: 'T8' })
  await api.call('PUT', '/alerts/settings', { key, body: { on_call_user_id: ann } })
  const reached = 'SELECT person_id FROM alert_channels WHERE person_id = ANY (?::uuid[])'
  await waitFor(async () => (await query(api.db, reached, [[ann, bob]])).length === 2)
  const { body: shown } = await api.call('GET', '/alerts/channels', { key })
  t.notMatch(JSON.stringify(shown), /Direct message/)

  const id = await team.incident(account, 'Disk is full')
  await waitFor(() => messagesTo('DUANN').length === 1)
  t.match(await team.command('UBOB', 'ack', 'T8'), { body: { text: /Acknowledged by <@UBOB>/ } })
  await api.call('POST', `/incidents/${id}/updates`, { key, body: { message: 'A new disk comes.' } })
  await api.call('PUT', `/incidents/${id}`, { key, body: { status: 'resolved' } })
  await waitFor(() => messagesTo('DUBOB').length === 2)
  t.match(
    messagesTo('DUBOB').map(({ text }) => text),
    [/^Update: Disk is full/, /^Resolved: Disk is full/],
  )
  t.equal(messagesTo('DUANN').length, 1, 'each gets only their own messages')

  const oldAccount = provider.people.findIndex(({ id }) => id === 'UANN')
  provider.people.splice(oldAccount, 1, { id: 'UANN2', email: names[0]!, team: 'T8' })
  const another = await team.incident(account, 'Disk is old')
  t.match(await team.command('UANN2', 'ack', 'T8'), { body: { text: /Acknowledged by <@UANN2>/ } })
  await waitFor(() => provider.calls('conversations.open').find(({ fields }) => fields.users === 'UANN2'))
  await waitFor(async () => (await query(api.db, reached, [[ann]])).length === 1)
  await api.call('PUT', `/incidents/${another}`, { key, body: { status: 'resolved' } })
  await waitFor(() => messagesTo('DUANN2').length === 1)

  const [bobsLink] = (await api.call('GET', '/chat/identities', { key })).body.data.filter(
    (one: { chat_user_id: string }) => one.chat_user_id === 'UBOB',
  )
  const setConnected = (is_connected: boolean) =>
    api.call('PUT', `/chat/identities/${bobsLink.id}`, { key, body: { is_connected } })
  t.equal((await setConnected(false)).status, 200)
  t.same(await query(api.db, reached, [[bob]]), [], 'a disconnected member gets no messages')
  const opened = provider.calls('conversations.open').length
  await team.install(account, { team: 'T8' })
  const due = `SELECT FROM chat_installations WHERE id = ? AND people_due_at > now() + interval '1 hour'`
  await waitFor(async () => (await query(api.db, due, [installation.id])).length === 1)
  t.equal(provider.calls('conversations.open').length, opened, 'and is not matched again')
  await setConnected(true)
  await waitFor(async () => (await query(api.db, reached, [[bob]])).length === 1)

  await api.db.raw('DELETE FROM memberships WHERE user_id = ?', [ann])
  const entries = (await log()).length
  await team.incident(account, 'Disk is full again')
  await ended(entries + 1)
  t.equal(messagesTo('DUANN2').length, 1, 'a former member gets no message')

  const links = async () => (await api.call('GET', '/chat/identities', { key })).body.meta.total
  t.equal(await links(), 2)
  await api.call('DELETE', `/chat/installations/${installation.id}`, { key })
  t.equal(await links(), 2, 'identity links outlive the installation')
  t.same(await query(api.db, reached, [[ann, bob]]), [])
  await team.install(account, { team: 'T8' })
  await waitFor(async () => (await query(api.db, reached, [[bob]])).length === 1)
})

t.test('Direct messages go through another team when one removes the app', async t => {
  const { account, key } = await project('T16')
  const email = 'ann@t16.example.com'
  const ann = await team.member(account, 'editor', email)
  await api.call('PUT', '/alerts/settings', { key, body: { on_call_user_id: ann } })
  const isReachedIn = async (teamId: string) => {
    const sql = `SELECT FROM alert_channels c JOIN chat_installations i ON i.id = c.chat_installation_id
      WHERE c.person_id = ? AND i.team_id = ?`
    return (await query(api.db, sql, [ann, teamId])).length === 1
  }
  for (const teamId of ['T16', 'T17']) {
    provider.people.push({ id: `U${teamId}`, email, team: teamId })
    await team.install(account, { team: teamId })
    await waitFor(() => provider.calls('users.lookupByEmail').some(({ token }) => token.endsWith(`-${teamId}`)))
    await waitFor(() => isReachedIn('T16'))
    provider.people.pop()
  }
  const linked = 'SELECT FROM chat_identities WHERE user_id = ?'
  await waitFor(async () => (await query(api.db, linked, [ann])).length === 2)
  const due = `SELECT FROM chat_installations WHERE project_id = ? AND people_due_at > now() + interval '1 hour'`
  await waitFor(async () => (await query(api.db, due, [account.projectId])).length === 2)

  provider.next('chat.postMessage', ...Array.from({ length: 2 }, () => ({ ok: false, error: 'token_revoked' })))
  await team.incident(account, 'Queue is full')
  await waitFor(() => isReachedIn('T17'))
  await team.incident(account, 'Queue is full again')
  const [message] = await waitFor(() => (messagesTo('DUT17').length > 0 ? messagesTo('DUT17') : null))
  t.match(message.text, /Queue is full again/)
})

t.test('The channel list has all public channels and is cached', async t => {
  const { key, installation, account } = await project('T9')
  const path = `/chat/installations/${installation.id}/channels`
  const { body } = await api.call('GET', `${path}?per_page=2`, { key })
  t.match(body, { meta: { total: 3, total_pages: 2 } })
  t.match(body.data, [
    { id: 'C1', name: 'name-of-c1', is_member: true },
    { id: 'C2', is_member: false },
  ])
  const asked = provider.calls('conversations.list').length
  t.match((await api.call('GET', `${path}?q=OF-C3`, { key })).body, { data: [{ id: 'C3' }], meta: { total: 1 } })
  t.equal(provider.calls('conversations.list').length, asked)
  t.equal((await api.call('GET', path, { key: (await api.tenant()).key })).status, 404)
  const fresh = await team.install(account, { team: 'T9' })
  provider.next('conversations.list', 500)
  t.equal((await api.call('GET', `/chat/installations/${fresh.id}/channels`, { key })).status, 503)
})

t.test('A channel must name an installation of its own project, with all of its settings', async t => {
  const { installation } = await project('T10')
  const { key } = await api.tenant()
  const create = (config: object) =>
    api.call('POST', '/alerts/channels', { key, body: { name: 'Ops', type: 'chat_a', config } })
  t.equal((await create({ installation_id: installation.id, channel_id: 'C1' })).status, 404)
  t.equal((await create({ installation_id: 'x', channel_id: 'C1' })).status, 404)
  const own = (await create({ webhook_url: 'https://hooks.example.com/x' })).body.data
  const config = { installation_id: installation.id, channel_id: 'C1' }
  t.equal((await api.call('PUT', `/alerts/channels/${own.id}`, { key, body: { config } })).status, 404)
  const rows: [object, string][] = [
    [{}, 'config.webhook_url'],
    [{ installation_id: installation.id }, 'config.channel_id'],
    [{ installation_id: installation.id, channel_id: '#ops' }, 'config.channel_id'],
    [
      { installation_id: installation.id, channel_id: 'C1', webhook_url: 'https://hooks.example.com/x' },
      'config.webhook_url',
    ],
  ]
  for (const [config, path] of rows) {
    t.match(await create(config), { status: 400, body: { error: { details: [{ path }] } } }, JSON.stringify(config))
  }
})

t.test('A channel that is created while its installation is deleted is refused with 404', async t => {
  const { installation, key } = await project('T11')
  const config = { installation_id: installation.id, channel_id: 'C1' }
  const late = await runWhileLocked(
    api.db,
    tx => execute(tx, 'DELETE FROM chat_installations WHERE id = ?', [installation.id]),
    () => api.call('POST', '/alerts/channels', { key, body: { name: 'Ops', type: 'chat_a', config } }),
  )
  t.equal(late.status, 404)
})

t.test('A replayed message goes to the chat channel that is configured now', async t => {
  const { account, ended, key, channelId, installation } = await project('T15')
  await team.incident(account, 'Payroll is slow')
  const [entry] = await ended(1)
  const sentTo = () =>
    provider.bodies('chat.postMessage').flatMap(({ channel, text }) => (/Payroll/.test(text) ? channel : []))
  t.same(sentTo(), ['C2'])
  const config = { installation_id: installation.id, channel_id: 'C9' }
  t.equal((await api.call('PUT', `/alerts/channels/${channelId}`, { key, body: { config } })).status, 200)
  await api.call('POST', `/alerts/log/${entry.id}/retry`, { key })
  await waitFor(() => sentTo().length === 2)
  t.same(sentTo(), ['C2', 'C9'])
})

/** Finishes an installation. Returns the status, which is 302 for a success. */
async function finishInstall(key: string, teamId: string): Promise<number> {
  const { headers } = await api.call('GET', '/chat/oauth/install', { key })
  const state = new URL(headers.get('location')!).searchParams.get('state')!
  const query = new URLSearchParams({ state, code: provider.consent({ team: teamId }) })
  return (await api.call('GET', `/chat/oauth/callback?${query}`, { key: null })).status
}

t.test('Two installations of a team at once are one', async t => {
  const { key } = await api.tenant()
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
    AND (query LIKE '%INSERT INTO chat_installations%' OR query LIKE '%pg_advisory_xact_lock%')`
  const { both } = await api.db.transaction(async tx => {
    await keepOpen(tx)
    await tx.raw('LOCK TABLE chat_installations IN SHARE MODE')
    const both = Promise.all([finishInstall(key, 'T18'), finishInstall(key, 'T18')])
    await waitFor(async () => (await query(api.db, waiting)).length === 2, { label: 'two installations that wait' })
    return { both }
  })
  t.same(await both, [302, 302])
  const list = (path: string) => api.call('GET', path, { key })
  t.match((await list('/chat/installations')).body.data, [{ team_id: 'T18' }])
  t.equal((await list('/alerts/channels')).body.meta.total, 1, 'with one default channel')
})

t.test('An installation that is deleted while its team installs again is stored again', async t => {
  const { key, installation } = await project('T19')
  const status = await runWhileLocked(
    api.db,
    async tx => {
      await execute(tx, 'DELETE FROM alert_channels WHERE chat_installation_id = ?', [installation.id])
      await execute(tx, 'DELETE FROM chat_installations WHERE id = ?', [installation.id])
    },
    () => finishInstall(key, 'T19'),
  )
  t.equal(status, 302)
  const [stored] = (await api.call('GET', '/chat/installations', { key })).body.data
  const [channel] = (await api.call('GET', '/alerts/channels', { key })).body.data
  t.match(stored, { team_id: 'T19', default_channel_id: channel.id })
})
