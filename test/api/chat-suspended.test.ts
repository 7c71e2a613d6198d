import t from 'tap'
import { createClaimLink } from '../../control-plane/accounts/organizations/user-actions.ts'
import { loadDirectRecipients } from '../../control-plane/alerting/routing/recipients/direct-recipients-store.ts'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { listUnlinkedMembers } from '../../control-plane/integrations/chat/people/people-store.ts'
import { startApi } from '../support/api-server.ts'
import { startChatProvider } from '../support/chat-provider.ts'
import { createChatTeam } from '../support/chat-team.ts'
import { createPerson } from '../support/person.ts'
import { createVisitor } from '../support/visitor.ts'

const provider = await startChatProvider(t)
const api = await startApi(t, provider.env)
const mine = await api.tenant()
const team = createChatTeam(api, provider)
const installation = await team.install(mine)
const ann = await team.member(mine, 'editor', 'ann@example.com')
const bob = await team.member(mine, 'admin', 'bob@example.com')
provider.people.push(
  { id: 'U1', email: 'ann@example.com' },
  { id: 'U2', email: 'bob@example.com' },
  { id: 'U3', email: 'stranger@example.com' },
)

const suspend = (userId: string, isSuspended: boolean) =>
  execute(api.db, 'UPDATE memberships SET suspended_at = CASE WHEN ? THEN now() END WHERE user_id = ?', [
    isSuspended,
    userId,
  ])

t.test('A suspended member cannot use commands or acknowledge, but still gets direct messages of alerts', async t => {
  const incidentId = await team.incident(mine, 'Shop is down')
  t.match((await team.command('U1', 'incidents')).body.text, /Shop is down/, 'before')
  await execute(
    api.db,
    `INSERT INTO alert_channels (id, project_id, name, type, config, person_id, is_default, created_at, updated_at)
     VALUES (gen_random_uuid(), ?, 'Direct message', 'chat_a', '', ?, false, now(), now())`,
    [mine.projectId, ann],
  )
  t.match(await loadDirectRecipients(api.db, [mine.projectId]), [{ userId: ann }])
  await suspend(ann, true)
  for (const command of ['status', 'incidents']) {
    t.match((await team.command('U1', command)).body.text, /suspended/, command)
    t.match((await team.command('U3', command)).body.text, /suspended/, `${command} of an unknown person`)
    t.notMatch((await team.command('U2', command)).body.text, /suspended/, `${command} of another member`)
  }
  t.match((await team.command('U1', 'ack')).body.text, /suspended/)
  t.match((await team.click('U1', incidentId)).response, { text: /Only members can acknowledge/ })
  t.match((await api.call('GET', `/incidents/${incidentId}`, { key: mine.key })).body.data, { acknowledged_at: null })
  t.match(await loadDirectRecipients(api.db, [mine.projectId]), [{ userId: ann }], 'alerts continue')
  const unlinked = await listUnlinkedMembers(api.db, mine.projectId, 'T9')
  t.same(unlinked.map(({ userId }) => userId).sort(), [mine.userId, bob].sort())

  await suspend(ann, false)
  t.match((await team.click('U1', incidentId)).response, { text: 'what it was about' })
  t.match((await api.call('GET', `/incidents/${incidentId}`, { key: mine.key })).body.data, { acknowledged_by: ann })
})

t.test('A person whose address is not proven is not recognised by an earlier link of the chat', async t => {
  const incidentId = await team.incident(mine, 'Bakery is down')
  const setAwaitsProof = (awaitsProof: boolean) =>
    execute(api.db, 'UPDATE memberships SET awaits_proof = ? WHERE user_id = ?', [awaitsProof, bob])
  await team.command('U2', 'incidents')
  await setAwaitsProof(true)
  t.match((await team.click('U2', incidentId)).response, { text: /Only members can acknowledge/ })
  await setAwaitsProof(false)
  t.match(
    (await team.click('U2', incidentId)).response,
    { text: 'what it was about' },
    'it was not acknowledged before',
  )
})

t.test('An installation cannot be finished after its key was suspended or deleted', async t => {
  await api.call('DELETE', `/chat/installations/${installation.id}`, { key: mine.key })
  for (const end of ['UPDATE api_keys SET suspended_at = now() WHERE id = ?', 'DELETE FROM api_keys WHERE id = ?']) {
    const made = await api.call('POST', '/api-keys', { key: mine.key, body: { name: 'installer', scope: 'admin' } })
    const begun = await api.call('GET', '/chat/oauth/install', { key: made.body.data.key })
    const state = new URL(begun.headers.get('location')!).searchParams.get('state')!
    await execute(api.db, end, [made.body.data.id])
    const query = new URLSearchParams({ state, code: provider.consent({}) })
    const finished = await api.call('GET', `/chat/oauth/callback?${query}`, { key: null })
    t.match(finished, { status: 400, body: { error: { message: /no longer allowed to install/ } } })
  }
  t.equal((await api.call('GET', '/chat/installations', { key: mine.key })).body.meta.total, 0)
})

t.test('An installation cannot be finished by a person who has become a viewer', async t => {
  const person = await createPerson(api, `${crypto.randomUUID()}@example.com`)
  const editor = await createPerson(api, `${crypto.randomUUID()}@example.com`, { role: 'editor', invitedBy: person })
  const browser = createVisitor(api.origin)
  browser.setCookie(editor.token)
  const begin = async () => {
    const { location } = await browser.get('/settings/chat/install')
    return new URL(location!).searchParams.get('state')!
  }
  const [refused, taken] = [await begin(), await begin()]
  const setRole = (role: string) =>
    execute(api.db, 'UPDATE memberships SET role = ? WHERE user_id = (SELECT id FROM users WHERE email = ?)', [
      role,
      editor.email,
    ])
  const finish = (state: string) =>
    browser.post(`/settings/chat/connect?${new URLSearchParams({ state, code: provider.consent({}) })}`, {})
  await setRole('viewer')
  t.match(await finish(refused), { status: 400, text: /no longer allowed to install/ })
  t.equal((await api.call('GET', '/chat/installations', { key: person.key })).body.meta.total, 0)
  await setRole('editor')
  await finish(taken)
  t.equal((await api.call('GET', '/chat/installations', { key: person.key })).body.meta.total, 1)
})

t.test('An installation cannot be finished after its session was ended', async t => {
  const email = `${crypto.randomUUID()}@example.com`
  const body = { email, name: 'Acme' }
  const { claim_url: claimUrl, api_key: key } = (await api.call('POST', '/agent/bootstrap', { key: null, body })).body
    .data
  const stranger = createVisitor(api.origin)
  await stranger.post(new URL(claimUrl).pathname, { password: 'a password of a stranger' })
  const { location } = await stranger.get('/settings/chat/install')
  const state = new URL(location!).searchParams.get('state')!
  const link = await createClaimLink(api.db, email, api.origin)
  const owner = createVisitor(api.origin)
  t.equal((await owner.post(new URL(link).pathname, { password: 'correct horse battery' })).status, 303)
  const connect = `/settings/chat/connect?${new URLSearchParams({ state, code: provider.consent({}) })}`
  t.match(await stranger.post(connect, {}), { status: 400, text: /no longer allowed to install/ })
  t.equal((await api.call('GET', '/chat/installations', { key })).body.meta.total, 0)
})
