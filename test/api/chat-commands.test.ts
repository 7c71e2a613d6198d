import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { startChatProvider } from '../support/chat-provider.ts'
import { createChatTeam } from '../support/chat-team.ts'
import { keepOpen } from '../support/open-transaction.ts'

const provider = await startChatProvider(t)
const api = await startApi(t, provider.env)
const mine = await api.tenant()
const team = createChatTeam(api, provider)
await team.install(mine)
await team.member(mine, 'editor', 'ann@example.com')
await team.member(mine, 'viewer', 'vic@example.com')
provider.people.push(
  { id: 'U1', email: 'Ann@Example.com' },
  { id: 'U2', email: 'vic@example.com' },
  { id: 'U3', email: 'stranger@example.com' },
  { id: 'U4', email: 'ann@example.com', team: 'T7' },
)

const incident = async (id: string) => (await api.call('GET', `/incidents/${id}`, { key: mine.key })).body.data
const monitor = (name: string) =>
  api.call('POST', '/monitors', { key: mine.key, body: { name, type: 'http', url: 'https://shop.example.com/' } })

t.test('/picket status shows the status of the monitors without markup or mentions in names', async t => {
  t.match((await team.command('U1', 'status')).body, { response_type: 'ephemeral', text: 'There are no monitors yet.' })
  const { body } = await monitor('<!channel> *Shop* & <https://evil.example|bank> @here')
  await api.db.raw(`UPDATE monitors SET status = 'down', status_changed_at = now() WHERE id = ?`, [body.data.id])
  const { text } = (await team.command('U1', 'status')).body
  t.match(text, /0 up · 0 degraded · 1 down · 0 paused/)
  t.match(text, /&lt;!channel&gt; {2}Shop {2}&amp; &lt;https:\/\/evil.example bank&gt; @\u200bhere is down/)
  t.notMatch(text, /<!|<http|[*|]/)
})

t.test('/picket with an unknown command or none shows help', async t => {
  for (const text of ['', 'help', 'ack a b', 'status now', 'drop tables', '<!channel>']) {
    const { status, body } = await team.command('U1', text)
    t.match(
      { status, body },
      { status: 200, body: { response_type: 'ephemeral', text: /picket status.*\n.*incidents/ } },
      text,
    )
  }
})

t.test('A team without the app gets an explanation', async t => {
  t.match((await team.command('U1', 'status', 'T404')).body.text, /not connected to this team/)
  t.match((await team.command('U1', 'status', '')).body.text, /not connected to this team/)
})

t.test('/picket ack acknowledges once, as the member with that email address', async t => {
  const id = await team.incident(mine, 'Shop is slow')
  const { body } = await team.command('U1', 'ack')
  t.match(body, { response_type: 'ephemeral', text: 'Acknowledged by <@U1>: Shop is slow' })
  const users = await query<{ email: string }>(api.db, 'SELECT email FROM users WHERE id = ?', [
    (await incident(id)).acknowledged_by,
  ])
  t.same(users, [{ email: 'ann@example.com' }])
  t.match((await team.command('U1', 'ack')).body.text, /nothing to acknowledge/)
  const { body: links } = await api.call('GET', '/chat/identities', { key: mine.key })
  t.match(links, { data: [{ team_id: 'T1', chat_user_id: 'U1' }], meta: { total: 1 } })
  const { body: log } = await api.call('GET', '/audit-log', { key: mine.key })
  t.match(
    log.data.find(({ resource }: { resource: string }) => resource === 'incident' || resource === 'incidents'),
    { actor: { kind: 'user', name: 'ann@example.com' } },
  )
})

t.test('Another chat account with the same address replaces the link', async t => {
  const id = await team.incident(mine, 'Disk is slow')
  const [known] = provider.people.splice(0, 1)
  provider.people.push({ id: 'U9', email: known!.email })
  t.match((await team.command('U9', 'ack')).body.text, 'Acknowledged by <@U9>: Disk is slow')
  const { body: links } = await api.call('GET', '/chat/identities', { key: mine.key })
  t.match(links, { data: [{ chat_user_id: 'U9' }], meta: { total: 1 } })
  provider.people.splice(-1, 1, known!)
  await api.call('PUT', `/incidents/${id}`, { key: mine.key, body: { status: 'resolved' } })
})

t.test('A disconnected chat user cannot act as the member, and is not linked again by email address', async t => {
  const [link] = (await api.call('GET', '/chat/identities', { key: mine.key })).body.data
  const path = `/chat/identities/${link.id}`
  const id = await team.incident(mine, 'Queue is slow')
  const change = (key: string, is_connected: unknown) => api.call('PUT', path, { key, body: { is_connected } })
  t.equal((await change((await api.tenant()).key, false)).status, 404, 'a link of another project')
  t.match(await change(mine.key, 'no'), { status: 400, body: { error: { details: [{ path: 'is_connected' }] } } })
  const { body } = await change(mine.key, false)
  t.match(body.data, { id: link.id, chat_user_id: 'U9', disconnected_at: /Z$/ })
  t.match((await change(mine.key, false)).body.data, { disconnected_at: body.data.disconnected_at }, 'twice')
  for (const user of ['U1', 'U9']) t.match((await team.command(user, 'ack')).body.text, /disconnected/, user)
  t.equal((await incident(id)).acknowledged_at, null)
  t.match((await change(mine.key, true)).body.data, { disconnected_at: null })
  t.match((await team.command('U1', 'ack')).body.text, 'Acknowledged by <@U1>: Queue is slow')
  const { body: links } = await api.call('GET', '/chat/identities', { key: mine.key })
  t.match(links, { data: [{ chat_user_id: 'U1', disconnected_at: null }], meta: { total: 1 } })
})

t.test('/picket ack finds the only unacknowledged incident among many acknowledged ones', async t => {
  const id = await team.incident(mine, 'Old and slow')
  await execute(
    api.db,
    `INSERT INTO incidents SELECT (jsonb_populate_record(i, jsonb_build_object('acknowledged_at', now(),
       'id', 'ffffffff-ffff-7fff-bfff-' || lpad(n::text, 12, '0')))).* FROM incidents i, generate_series(1, 21) n
     WHERE i.id = ?`,
    [id],
  )
  t.match((await team.command('U1', 'ack')).body.text, 'Acknowledged by <@U1>: Old and slow')
  await execute(api.db, `DELETE FROM incidents WHERE id > 'ffffffff-0000-7000-8000-000000000000'`)
})

t.test('Viewers, strangers and users of other teams get an explanation and change nothing', async t => {
  const id = await team.incident(mine, 'Mail is slow')
  t.match((await team.command('U2', 'ack')).body.text, /your role in Picket is viewer/)
  t.match((await team.command('U3', 'ack')).body.text, /no member has the email address/)
  t.match((await team.command('U4', 'ack')).body.text, /no member has the email address/, 'an address of another team')
  t.match((await team.command('U404', 'ack')).body.text, /no member has the email address/)
  provider.next('users.info', 'hang')
  t.match((await team.command('U3', 'ack')).body.text, /cannot identify you/)
  t.equal((await incident(id)).acknowledged_at, null)
})

t.test('/picket incidents lists open incidents with buttons, and ack accepts the code that it shows', async t => {
  const second = await team.incident(mine, 'DNS <!here> is slow')
  const { body } = await team.command('U3', 'incidents')
  t.match(body.text, new RegExp(`\`${second.slice(-6)}\` DNS &lt;!here&gt; is slow · minor`))
  const buttons = body.blocks.flatMap(({ accessory }: { accessory?: { value: string } }) => accessory?.value ?? [])
  t.equal(buttons[0], second)
  t.match((await team.command('U1', 'ack')).body.text, /Which incident\?/)
  t.match((await team.command('U1', 'ack zzzzzz')).body.text, /No open incident has the code zzzzzz/)
  t.match((await team.command('U1', `ack #${second.slice(-6).toUpperCase()}`)).body.text, /Acknowledged by <@U1>/)
  t.ok((await incident(second)).acknowledged_at)
})

t.test('The button acknowledges and is replaced by the outcome', async t => {
  const id = await team.incident(mine, 'Search is slow')
  const other = { type: 'button', action_id: 'open', value: 'x' }
  const blocks = [
    { type: 'header', text: { type: 'plain_text', text: 'New incident' } },
    { type: 'actions', elements: [{ type: 'button', action_id: 'acknowledge', value: id }, other] },
  ]
  const { response, ...answer } = await team.click('U1', id, blocks)
  t.same(answer, { status: 200, body: null })
  t.ok((await incident(id)).acknowledged_at)
  t.match(response, { replace_original: true, blocks: [blocks[0], { elements: [other] }, { type: 'context' }] })
  t.match(response.blocks[2].elements[0].text, 'Acknowledged by <@U1>: Search is slow')
  t.match((await team.click('U2', id, blocks)).response, { response_type: 'ephemeral', text: /viewer/ })
})

t.test('A button in an ephemeral list leaves the other incidents', async t => {
  const ids = [await team.incident(mine, 'Left is slow'), await team.incident(mine, 'Right is slow')]
  const { response } = await team.click('U1', ids[0]!, [], true)
  t.match(response, { replace_original: true, text: /^Acknowledged by <@U1>: Left is slow\n.*Right is slow/ })
  const buttons = response.blocks.flatMap(({ accessory }: { accessory?: { value: string } }) => accessory?.value ?? [])
  t.ok(buttons.includes(ids[1]) && !buttons.includes(ids[0]))
  for (const id of ids) await api.call('PUT', `/incidents/${id}`, { key: mine.key, body: { status: 'resolved' } })
})

t.test('The button of a resolved incident, or of another project, changes nothing and is removed', async t => {
  const id = await team.incident(mine, 'Gone')
  await api.call('PUT', `/incidents/${id}`, { key: mine.key, body: { status: 'resolved' } })
  t.match((await team.click('U1', id, [], true)).response, {
    replace_original: true,
    text: /a resolved incident cannot be acknowledged/,
  })
  const other = await api.tenant()
  const foreign = await team.incident(other, 'Of another team')
  t.match((await team.click('U1', foreign, [], true)).response, { text: /incident not found/ })
  const { body } = await api.call('GET', `/incidents/${foreign}`, { key: other.key })
  t.equal(body.data.acknowledged_at, null)
})

t.test('A request without a valid and recent signature is refused with 401', async t => {
  const id = await team.incident(mine, 'Forged')
  const text = new URLSearchParams({ team_id: 'T1', user_id: 'U1', text: 'ack' }).toString()
  const nowSeconds = Math.floor(Date.now() / 1_000)
  const good = provider.signed(text, nowSeconds)
  const headers: [string, Record<string, string>][] = [
    ['no signature', { 'content-type': good['content-type']! }],
    ['another secret', provider.signed(text, nowSeconds, 'x')],
    ['of another text', provider.signed(`${text}&x=1`)],
    ['six minutes old', provider.signed(text, nowSeconds - 360)],
    ['of the future', provider.signed(text, nowSeconds + 3_600)],
    ['another time than was signed', { ...good, 'x-slack-request-timestamp': String(nowSeconds + 1) }],
    ['another version', { ...good, 'x-slack-signature': good['x-slack-signature']!.replace('v0=', 'v1=') }],
    ['cut short', { ...good, 'x-slack-signature': good['x-slack-signature']!.slice(0, -1) }],
    ['no time', { ...good, 'x-slack-request-timestamp': 'NaN' }],
  ]
  for (const [what, forged] of headers) {
    for (const path of ['/chat/commands', '/chat/interactions', '/chat/events']) {
      const answer = await team.send(path, text, forged)
      t.match(answer, { status: 401, body: { error: { code: 'unauthorized' } } }, `${path}: ${what}`)
    }
  }
  t.equal((await incident(id)).acknowledged_at, null)
})

t.test('A repeated request is processed once and gets an empty response', async t => {
  const text = new URLSearchParams({ team_id: 'T1', user_id: 'U1', text: 'status', id: 'once' }).toString()
  const headers = provider.signed(text)
  const before = provider.bodies('response').length
  const first = await team.send('/chat/commands', text, headers)
  t.equal(first.status, 200)
  // on a busy machine the answer is posted later
  t.match(first.body.text === 'One moment…' ? await team.nextResponse(before) : first.body, { text: /down/ })
  t.same(await team.send('/chat/commands', text, headers), { status: 200, body: null })
})

t.test('A signed request with invalid content is answered and changes nothing', async t => {
  for (const text of [
    '',
    'payload=',
    'payload=%7B',
    'payload=null',
    'payload=%5B1%5D',
    'payload=%7B%22actions%22%3A5%7D',
    '%00=%ff',
  ]) {
    t.equal((await team.send('/chat/interactions', text, provider.signed(text))).status, 200, text)
  }
  const long = `text=${'x'.repeat(600_000)}`
  t.equal((await team.send('/chat/commands', long, provider.signed(long))).status, 413)
})

t.test('A command that takes too long gets a pending reply, and then the answer', async t => {
  const before = provider.bodies('response').length
  await api.db.transaction(async tx => {
    await keepOpen(tx)
    await tx.raw('LOCK TABLE monitors, chat_spent IN ACCESS EXCLUSIVE MODE')
    t.match((await team.sendCommand('U1', 'status')).body, { text: 'One moment…' })
  })
  t.match(await team.nextResponse(before), { response_type: 'ephemeral', text: /1 down/ })
})

t.test('An internal error is reported to the user', async t => {
  await api.db.raw('ALTER TABLE incidents RENAME COLUMN title TO broken')
  t.match((await team.command('U1', 'status')).body, { text: /Picket cannot answer at the moment/ })
  const { response } = await team.click('U1', '0190a0a0-0000-7000-8000-000000000000')
  await api.db.raw('ALTER TABLE incidents RENAME COLUMN broken TO title')
  await api.db.raw('ALTER TABLE chat_spent RENAME TO broken')
  t.match((await team.command('U1', 'status')).body, { text: /Picket cannot answer at the moment/ })
  await api.db.raw('ALTER TABLE broken RENAME TO chat_spent')
  t.match(response, { text: /Picket cannot answer at the moment/ })
})
