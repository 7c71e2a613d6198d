import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { parseRows, proveAddress } from '../support/access-review.ts'
import { startApi } from '../support/api-server.ts'
import { mailedLink } from '../support/mailed-link.ts'
import { startSmtp } from '../support/smtp.ts'
import { createVisitor } from '../support/visitor.ts'
import { waitFor } from '../support/wait.ts'

const smtp = await startSmtp(t)
const api = await startApi(t, {
  ...{ ROLES: 'api,deliver', SMTP_URL: smtp.url, MAIL_FROM: 'picket@example.com' },
  ...{ RATE_LIMIT_PER_MINUTE: '1000000', API_KEYS_LIMIT: 'none' },
})
const PASSWORD = 'correct horse battery'
const SUSPENDED = { status: 401, body: { error: { code: 'api_key_suspended', message: /suspended/ } } }

const toPath = (url: string) => new URL(url).pathname
const readStatus = async (key: string, path = '/members') => (await api.call('GET', path, { key })).status
const makeKey = async (key: string, scope: string) =>
  (await api.call('POST', '/api-keys', { key, body: { name: `${scope} key`, scope } })).body.data.key as string

/** Resets attempt counters, because all requests come from one network. */
t.beforeEach(async () => {
  await execute(api.db, 'DELETE FROM password_attempts')
  await execute(api.db, 'DELETE FROM bootstrap_attempts')
})

/** An attacker creates an account with another person's address, with keys and an accomplice. */
async function hijack(email: string) {
  const made = await api.call('POST', '/agent/bootstrap', { key: null, body: { email, name: 'Victim Ltd' } })
  const { api_key: key, claim_url: claimUrl, organization_id: organizationId } = made.body.data
  const keys = [key, await makeKey(key, 'read'), await makeKey(key, 'admin')]
  const body = { email: `accomplice-of-${email}`, role: 'admin' }
  const invited = await api.call('POST', '/agent/invite', { key, body })
  const accomplice = createVisitor(api.origin)
  await accomplice.post(toPath(invited.body.data.claim_url), { password: PASSWORD })
  const founderId = made.body.data.user_id as string
  const accompliceId = invited.body.data.user_id as string
  return { keys, claimUrl, organizationId, founderId, accomplice, accompliceId }
}

t.test(
  'After the owner of an address proves it by email, the person who created the account has no access',
  async t => {
    const email = 'victim@example.com'
    const { keys, claimUrl, organizationId, accomplice, accompliceId } = await hijack(email)
    const thief = createVisitor(api.origin)
    await thief.post(toPath(claimUrl), { password: PASSWORD })
    for (const key of keys) t.equal(await readStatus(key, '/project'), 200, 'before')
    const wall = await api.call('POST', '/wall-links', { key: keys[0]!, body: { name: 'left behind' } })
    const readWall = () => fetch(`${api.origin}${toPath(wall.body.data.url)}/data`)
    t.equal((await readWall()).status, 200)
    t.match((await accomplice.get('/account')).text, 'Victim Ltd')
    const again = await api.call('POST', '/agent/bootstrap', { key: null, body: { email } })
    t.match(again, { status: 409, body: { error: { code: 'conflict' } } })

    const { owner, location } = await proveAddress(api.origin, smtp, email)
    t.equal(location, '/account/access')
    const made = await api.call('POST', '/api-keys', { key: keys[0]!, body: { name: 'left behind', scope: 'admin' } })
    t.match(made, SUSPENDED, 'not even while the key is cached')
    const invited = await api.call('POST', '/agent/invite', { key: keys[2]!, body: { email: 'other@example.com' } })
    t.match(invited, SUSPENDED)
    for (const key of keys) {
      await waitFor(async () => (await readStatus(key, '/project')) === 401, { label: 'the key is refused' })
      for (const path of ['/members', '/export', '/monitors', '/audit-log', '/api-keys']) {
        t.match(await api.call('GET', path, { key }), SUSPENDED, path)
      }
    }
    t.notMatch((await accomplice.get('/account')).text, 'Victim Ltd')
    t.equal((await accomplice.post('/account/organization', { organization_id: organizationId })).status, 404)
    t.match(await accomplice.get('/settings/chat', { accept: 'text/html' }), { status: 303, location: '/account' })
    t.equal((await accomplice.get('/account/access')).location, '/', 'and cannot decide')
    t.equal((await thief.get('/account')).status, 303, 'sessions of the old password have ended')

    t.equal((await readWall()).status, 404, 'wall links are deleted')
    const page = await owner.get('/account/access')
    t.match(page.text, /Victim Ltd.*First key.*read key.*admin key.*accomplice-of-victim@example\.com/s)
    const rows = parseRows(page.text)
    const kept = await query<{ id: string }>(api.db, `SELECT id FROM api_keys WHERE name = 'admin key'`, [])
    const row = rows.find(({ id }) => id === kept[0]!.id)!
    t.equal((await owner.post('/account/access', { ...row, choice: 'keep' })).status, 303)
    t.equal(await readStatus(keys[2]!), 200, 'a kept key works again immediately')
    await owner.post('/account/access', {
      organization_id: organizationId,
      kind: 'everything',
      id: 'all',
      choice: 'end',
    })
    t.equal((await owner.get('/account/access')).location, '/')
    const members = await api.call('GET', '/members', { key: keys[2]! })
    t.same(
      members.body.data.map((member: { email: string }) => member.email),
      [email],
    )
    t.equal((await accomplice.post('/account/organization', { organization_id: organizationId })).status, 404)
    for (const key of keys.slice(0, 2)) t.match(await api.call('GET', '/project', { key }), { status: 401 })
    const log = await api.call('GET', '/audit-log?action=deleted', { key: keys[2]! })
    t.same(
      log.body.data.map((entry: { resource: string }) => entry.resource).sort(),
      ['api_key', 'api_key', 'member', 'wall_link'],
      'each is in the audit log',
    )
    t.ok(log.body.data.some((entry: { resource_id: string }) => entry.resource_id === accompliceId))
  },
)

t.test(
  'A person who made an account for another address can neither mail it without limit nor void the links of its owner',
  async t => {
    const email = 'mailed@example.com'
    const { claimUrl } = await hijack(email)
    const thief = createVisitor(api.origin)
    await thief.post(toPath(claimUrl), { password: PASSWORD })
    await createVisitor(api.origin).post('/forgot-password', { email })
    const link = await mailedLink(smtp, email, 1)
    const passwords: [string, string] = [PASSWORD, 'another horse battery']
    const statuses: number[] = []
    for (let i = 0; i < 8; i++) {
      const [old, password] = i % 2 === 0 ? passwords : [passwords[1], passwords[0]]
      statuses.push((await thief.post('/account/password', { old, password })).status)
    }
    t.same(statuses, [303, 303, 303, 303, 303, 400, 400, 400])
    t.equal((await createVisitor(api.origin).get(toPath(link))).status, 200, 'the link of the owner works')
  },
)

t.test('Keys that are created during the proof are suspended or refused', async t => {
  const email = 'busy@example.com'
  const { keys, organizationId } = await hijack(email)
  const stop = new AbortController()
  let made = 0
  const making = keys.map(async () => {
    while (!stop.signal.aborted) {
      const body = { name: 'one more', scope: 'admin' }
      const { status } = await api.call('POST', '/api-keys', { key: keys[0]!, body })
      if (status === 401) return
      if (status === 201) made++
    }
  })
  await waitFor(() => made > 0, { label: 'a first key' })
  await proveAddress(api.origin, smtp, email)
  const working = () =>
    query(
      api.db,
      `SELECT FROM api_keys k JOIN projects p ON p.id = k.project_id
       WHERE p.organization_id = ? AND k.suspended_at IS NULL`,
      [organizationId],
    )
  t.same(await working(), [])
  stop.abort()
  await Promise.all(making)
  t.same(await working(), [])
})

t.test('No key can demote or remove the founder before the address is proven, so the review opens', async t => {
  const email = 'demoted@example.com'
  const { keys, accomplice, founderId } = await hijack(email)
  const change = (method: string, body?: object) =>
    api.call(method, `/members/${founderId}`, { key: keys[0]!, ...(body && { body }) })
  const REFUSED = { status: 409, body: { error: { code: 'conflict', message: /founder.*forgot-password/ } } }
  t.match(await change('PUT', { role: 'viewer' }), REFUSED)
  t.match(await change('PUT', { role: 'editor' }), REFUSED)
  t.match(await change('DELETE'), REFUSED)
  t.match(await change('PUT', { role: 'admin' }), { status: 200, body: { data: { role: 'admin' } } })

  const { location } = await proveAddress(api.origin, smtp, email)
  t.equal(location, '/account/access')
  for (const key of keys) await waitFor(async () => (await readStatus(key, '/project')) === 401, { label: 'refused' })
  t.notMatch((await accomplice.get('/account')).text, 'Victim Ltd')
})

t.test('A founder who was demoted by an earlier version becomes an admin with the proof, and decides', async t => {
  const email = 'demoted-before@example.com'
  const { keys, organizationId, founderId, accomplice, accompliceId } = await hijack(email)
  await execute(api.db, `UPDATE memberships SET role = 'viewer' WHERE user_id = ?`, [founderId])
  const refused = await api.call('DELETE', `/members/${founderId}`, { key: keys[0]! })
  t.equal(refused.status, 409, 'a demoted founder is not removed either')

  const { owner, location } = await proveAddress(api.origin, smtp, email)
  t.equal(location, '/account/access')
  for (const key of keys) await waitFor(async () => (await readStatus(key, '/project')) === 401, { label: 'refused' })
  t.notMatch((await accomplice.get('/account')).text, 'Victim Ltd')
  const everything = { organization_id: organizationId, kind: 'everything', id: 'all' }
  await owner.post('/account/access', { ...everything, choice: 'end' })
  const { text } = await owner.post('/account/access/key', { organization_id: organizationId })
  const key = /svc_[0-9A-Za-z]{36}/.exec(text)![0]
  t.match((await api.call('GET', '/members', { key })).body.data, [{ email, role: 'admin' }])
  const log = await api.call('GET', '/audit-log?resource=member', { key })
  t.match(
    log.body.data.filter((entry: { resource_id: string }) => entry.resource_id !== accompliceId),
    [{ action: 'updated', changes: { role: { from: 'viewer', to: 'admin' } }, actor: { kind: 'user', name: email } }],
  )
})
