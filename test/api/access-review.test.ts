import t from 'tap'
import { createClaimLink } from '../../control-plane/accounts/organizations/user-actions.ts'
import { createAccount } from '../../control-plane/accounts/registration/actions.ts'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { parseRows, proveAddress } from '../support/access-review.ts'
import { startApi } from '../support/api-server.ts'
import { mailedLink } from '../support/mailed-link.ts'
import { startSmtp } from '../support/smtp.ts'
import { createVisitor } from '../support/visitor.ts'
import { waitFor } from '../support/wait.ts'

const smtp = await startSmtp(t)
const api = await startApi(t, {
  ...{ ROLES: 'api,deliver', SMTP_URL: smtp.url, MAIL_FROM: 'picket@example.com' },
  DEFAULT_PLAN: 'business',
})
const PASSWORD = 'correct horse battery'
const PAGE = '/account/access'
const toPath = (url: string) => new URL(url).pathname
const readStatus = async (key: string) => (await api.call('GET', '/project', { key })).status
const readList = async (path: string, key: string) => (await api.call('GET', path, { key })).body.data

/** Resets attempt counters, because all requests come from one network. */
t.beforeEach(async () => {
  await execute(api.db, 'DELETE FROM password_attempts')
  await execute(api.db, 'DELETE FROM bootstrap_attempts')
})

/** Creates an organization whose founder's address is not proven. */
async function founded() {
  const email = `${crypto.randomUUID()}@example.com`
  const made = await api.call('POST', '/agent/bootstrap', { key: null, body: { email, name: 'Acme' } })
  const { api_key: key, claim_url: claimUrl, organization_id: organizationId, user_id: userId } = made.body.data
  return { email, key, claimUrl, organizationId, userId }
}

/** Adds a member to an organization and signs in. */
async function joined(key: string, role = 'editor') {
  const email = `${crypto.randomUUID()}@example.com`
  const { body } = await api.call('POST', '/agent/invite', { key, body: { email, role } })
  const visitor = createVisitor(api.origin)
  await visitor.post(toPath(body.data.claim_url), { password: PASSWORD })
  return { id: body.data.user_id as string, email, visitor }
}

const isInside = async ({ visitor }: { visitor: ReturnType<typeof createVisitor> }) =>
  (await visitor.get('/account')).text.includes('Acme')

t.test('Setting a password by the claim link of a bootstrap proves nothing and suspends nothing', async t => {
  const { claimUrl, key } = await founded()
  const member = await joined(key)
  const founder = createVisitor(api.origin)
  t.match(await founder.post(toPath(claimUrl), { password: PASSWORD }), { status: 303, location: '/' })
  t.equal(await readStatus(key), 200)
  t.ok(await isInside(member))
  t.equal((await founder.get(PAGE)).location, '/', 'no review is open')
})

t.test('An invited admin who proves the address suspends nothing of the organization', async t => {
  const { key } = await founded()
  const member = await joined(key)
  const email = `${crypto.randomUUID()}@example.com`
  await api.call('POST', '/agent/invite', { key, body: { email, role: 'admin' } })
  const admin = createVisitor(api.origin)
  const link = toPath(await mailedLink(smtp, email, 1))
  t.match(await admin.post(link, { password: PASSWORD }), { status: 303, location: '/' })
  t.equal(await readStatus(key), 200)
  t.ok(await isInside(member))
})

t.test('A link from the operator suspends nothing, and neither does a later mailed one', async t => {
  const { email, key } = await founded()
  const link = await createClaimLink(api.db, email, api.origin)
  const owner = createVisitor(api.origin)
  t.match(await owner.post(toPath(link), { password: PASSWORD }), { location: '/' })
  t.match(await proveAddress(api.origin, smtp, email), { location: '/' })
  t.equal(await readStatus(key), 200)
  const made = await api.db.transaction(tx =>
    createAccount(tx, { ...{ email: 'made@example.com', name: null, plan: 'free' }, publicUrl: '', provesEmail: true }),
  )
  t.match(await owner.post(made.claim_url, { password: PASSWORD }), { location: '/' })
  t.equal(await readStatus(made.api_key), 200)
})

t.test('Access that an admin keeps works immediately, and access created after the proof is not suspended', async t => {
  const { email, key, organizationId } = await founded()
  const [kept, ended] = [await joined(key), await joined(key)]
  const { owner } = await proveAddress(api.origin, smtp, email)
  t.notOk((await isInside(kept)) || (await isInside(ended)))
  const { text } = await owner.get(PAGE)
  t.match(text, /Suspended members\s+still\s+receive\s+alerts as direct messages/)
  const rows = parseRows(text)
  t.same(
    rows.map(({ kind, id }) => (id === 'all' ? `${kind} all` : kind)),
    ['key', 'member', 'member', 'member all', 'session', 'session', 'session all', 'everything all'],
  )
  const decide = (kind: string, id: string, choice: string) =>
    owner.post(PAGE, { organization_id: organizationId, kind, id, choice })
  const keyId = rows.find(({ kind }) => kind === 'key')!.id
  t.match(await decide('key', keyId, 'keep'), { status: 303, location: PAGE })
  t.equal(await readStatus(key), 200)
  t.equal((await owner.post(`${PAGE}/key`, { organization_id: organizationId })).status, 409, 'an admin key works')
  t.match(await readList('/members', key), [{}, {}, { email, suspended_at: null }])
  t.match((await readList('/members', key)).filter((one: { suspended_at: unknown }) => one.suspended_at).length, 2)

  const after = await joined(key)
  t.ok(await isInside(after))
  const newer = await api.call('POST', '/api-keys', { key, body: { name: 'newer', scope: 'admin' } })
  t.equal(await readStatus(newer.body.data.key), 200)
  t.match(await proveAddress(api.origin, smtp, email, 2), { location: PAGE }, 'the rest is not decided')
  t.equal(await readStatus(key), 200, 'a second link suspends nothing')
  await owner.post('/sign-in', { email, password: 'the owner chose this one' })

  await decide('member', kept.id, 'keep')
  t.notOk(await isInside(kept), 'this session is still suspended')
  const again = createVisitor(api.origin)
  await again.post('/sign-in', { email: kept.email, password: PASSWORD })
  t.ok(await isInside({ visitor: again }), 'a new session is not suspended')
  const sessions = parseRows((await owner.get(PAGE)).text).filter(({ kind }) => kind === 'session')
  t.equal(sessions.length, 3, 'two sessions, and both together')
  await decide('session', 'all', 'keep')
  t.ok(await isInside(kept))
  t.notOk(await isInside(ended), 'the membership is suspended')
  t.match(await decide('member', 'all', 'end'), { location: PAGE })
  t.equal((await owner.get(PAGE)).location, '/', 'the review is complete')
  t.notOk(await isInside(ended))
  t.same((await readList('/members', key)).map((one: { id: string }) => one.id).includes(ended.id), false)

  const log = await readList('/audit-log', key)
  const isLogged = (entry: object) =>
    t.ok(
      log.some((one: object) => JSON.stringify(one).includes(JSON.stringify(entry).slice(1, -1))),
      JSON.stringify(entry),
    )
  isLogged({ action: 'updated', resource: 'api_key', resource_id: keyId })
  isLogged({ action: 'updated', resource: 'member', resource_id: kept.id })
  isLogged({ action: 'deleted', resource: 'member', resource_id: ended.id })
  isLogged({ action: 'updated', resource: 'user', resource_id: kept.id })
})

t.test('Each sign-in leads to an open review, and from there to the requested page', async t => {
  const { email, organizationId } = await founded()
  const { owner } = await proveAddress(api.origin, smtp, email)
  t.match((await owner.get('/account')).text, /href="\/account\/access"/)
  await owner.post('/sign-out', {})
  t.equal((await owner.get(PAGE)).location, `/sign-in?return_to=${PAGE}`)
  const form = { email, password: 'the owner chose this one' }
  const { location } = await owner.post('/sign-in', { ...form, return_to: '/settings/chat' })
  t.equal(location, `${PAGE}?return_to=%2Fsettings%2Fchat`)
  t.match((await owner.get(location!)).text, /href="\/settings\/chat">Decide later/)
  const everything = { organization_id: organizationId, kind: 'everything', id: 'all', return_to: '/settings/chat' }
  t.equal((await owner.post(PAGE, { ...everything, choice: 'keep' })).location, location)
  t.equal((await owner.get(location!)).location, '/settings/chat')
  t.equal((await owner.post('/sign-in', form)).location, '/')
})

t.test('An owner who ends all keys can create one admin key', async t => {
  const { email, key, organizationId } = await founded()
  const { owner } = await proveAddress(api.origin, smtp, email)
  const organization = { organization_id: organizationId }
  await owner.post(PAGE, { ...organization, kind: 'everything', id: 'all', choice: 'end' })
  t.match((await owner.get(PAGE)).text, /Create an admin key/)
  const made = await owner.post(`${PAGE}/key`, organization)
  const own = /svc_[0-9A-Za-z]{36}/.exec(made.text)![0]
  t.equal(made.headers.get('cache-control'), 'no-store')
  t.equal(await readStatus(own), 200)
  t.match(await readList('/api-keys', own), [{ scope: 'admin', name: `Created by ${email}` }])
  t.match((await readList('/api-keys', own)).length, 1)
  t.equal((await owner.post(`${PAGE}/key`, organization)).status, 404, 'an admin key exists now')
  t.equal(await readStatus(key), 401)
})

t.test('Only an admin with active access can decide, and only from a page of the installation', async t => {
  const { email, key, organizationId, userId } = await founded()
  const [accomplice, editor] = [await joined(key, 'admin'), await joined(key, 'editor')]
  const stranger = await founded()
  const other = createVisitor(api.origin)
  await other.post(toPath(stranger.claimUrl), { password: PASSWORD })
  const remembered = api.call('GET', '/project', { key })
  const { owner } = await proveAddress(api.origin, smtp, email)
  await remembered
  for (const [method, body] of [
    ['PUT', { role: 'viewer' }],
    ['DELETE', undefined],
  ] as const) {
    const { status } = await api.call(method, `/members/${userId}`, { key, body })
    t.ok([401, 409].includes(status), 'the owner remains an admin, even while the key is cached')
  }
  const choice = { organization_id: organizationId, kind: 'everything', id: 'all', choice: 'keep' }
  t.equal((await accomplice.visitor.post(PAGE, choice)).status, 404)
  t.equal((await accomplice.visitor.post(`${PAGE}/key`, choice)).status, 404)
  t.equal((await other.post(PAGE, choice)).status, 404)
  t.equal(
    (await createVisitor(api.origin).post(PAGE, choice)).status,
    303,
    'a visitor without a session is sent to the sign-in page',
  )
  t.equal((await owner.post(PAGE, choice, { origin: 'https://elsewhere.example' })).status, 403)
  const wrong = [{ kind: 'project' }, { id: 'x' }, { choice: 'delete' }, { organization_id: 'x' }, { id: userId }]
  for (const change of wrong) t.equal((await owner.post(PAGE, { ...choice, ...change })).status, 404)
  await waitFor(async () => (await readStatus(key)) === 401, { label: 'the key is no longer cached' })

  await owner.post(PAGE, { ...choice, kind: 'member', id: editor.id })
  const again = createVisitor(api.origin)
  await again.post('/sign-in', { email: editor.email, password: PASSWORD })
  t.ok(await isInside({ visitor: again }), 'a kept member who is not an admin')
  t.equal((await again.post(PAGE, choice)).status, 404)
  t.equal((await again.post(`${PAGE}/key`, choice)).status, 404)
  await owner.post(PAGE, { ...choice, kind: 'member', id: accomplice.id })
  t.equal((await accomplice.visitor.post(PAGE, choice)).status, 404, 'a suspended session cannot decide')
  const foreign = { ...choice, organization_id: stranger.organizationId }
  t.equal((await owner.post(PAGE, foreign)).status, 404)
})
