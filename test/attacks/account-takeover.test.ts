import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import { listAddressStates } from '../../control-plane/accounts/email/confirmation/store.ts'
import {
  createPasswordLink,
  replacePasswordLinks,
} from '../../control-plane/accounts/sign-in/password-links/actions.ts'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { mailedLink } from '../support/mailed-link.ts'
import { startSmtp } from '../support/smtp.ts'

const smtp = await startSmtp(t)
const api = await startApi(t, { SMTP_URL: smtp.url, ROLES: 'api,deliver', PUBLIC_URL: 'http://localhost:8080' })
const PASSWORD = 'another person chose this'

type Account = Awaited<ReturnType<typeof api.tenant>>

const send = (path: string, fields: Record<string, string>, cookie = '') =>
  fetch(`${api.origin}${path}`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams(fields),
    headers: { 'sec-fetch-site': 'same-origin', cookie },
  })

const invite = (by: Account, email: string, role = 'editor') =>
  api.call('POST', '/agent/invite', { key: by.key, body: { email, role } })

/** Sets a password by a link. Returns the cookie of the session. */
async function claim(url: string, password = PASSWORD): Promise<string> {
  const answer = await send(new URL(url).pathname, { password })
  return (answer.headers.get('set-cookie') ?? '').split(';')[0]!
}

const enter = async (cookie: string, organization: Account) =>
  (await send('/account/organization', { organization_id: organization.organizationId }, cookie)).status

/** Signs in. Returns the cookie of the session. */
async function signIn(email: string, password = PASSWORD): Promise<string> {
  const answer = await send('/sign-in', { email, password })
  return (answer.headers.get('set-cookie') ?? '').split(';')[0]!
}

/** The acts of people in the audit log of an organization, oldest first. */
const actsIn = async (organization: Account): Promise<string[]> => {
  const { body } = await api.call('GET', '/audit-log?resource=user', { key: organization.key })
  return body.data.map(({ action }: { action: string }) => action).reverse()
}

const readAccountPage = async (cookie: string) =>
  (await fetch(`${api.origin}/account`, { headers: { cookie }, redirect: 'manual' })).text()

const findMember = async (organization: Account, email: string) => {
  const { body } = await api.call('GET', '/members', { key: organization.key })
  return body.data.find((member: { email: string }) => member.email === email)
}

t.test(
  'A person who creates an account with another address gets no access to organizations that invite that address',
  async t => {
    const [stranger, company] = [await api.tenant(), await api.tenant()]
    const email = 'ann@company.example'
    const { claim_url: shown } = (await invite(stranger, email)).body.data
    const stolen = await claim(shown)
    t.equal(await enter(stolen, stranger), 303, 'the organization of the stranger')
    await mailedLink(smtp, email, 1)

    t.match(await invite(company, email, 'admin'), { status: 200, body: { data: { is_new_account: false } } })
    t.equal(await enter(stolen, company), 404, 'not the company')
    t.match(await findMember(company, email), { awaits_proof: true, role: 'admin' })
    const link = await api.call('POST', `/members/${(await findMember(company, email)).id}/claim-link`, {
      key: company.key,
    })
    t.equal(link.status, 409, 'the company cannot take over the account either')

    const own = await claim(await mailedLink(smtp, email, 2), 'ann herself chose this')
    t.equal(await enter(own, company), 303, 'Ann reads the email and gets access')
    t.match(await findMember(company, email), { awaits_proof: false })
    t.equal(await enter(stolen, stranger), 303, 'the stranger’s session has ended')
    t.match((await fetch(`${api.origin}/account`, { headers: { cookie: stolen }, redirect: 'manual' })).status, 303)
    const after = await send('/sign-in', { email, password: PASSWORD })
    t.equal(after.status, 401, 'also with the old password')
  },
)

t.test('An unclaimed account is deleted with its last membership, so no other organization finds it', async t => {
  const [company, stranger] = [await api.tenant(), await api.tenant()]
  const email = 'bob@company.example'
  const { user_id: id, claim_url: shown } = (await invite(company, email)).body.data
  t.equal((await api.call('DELETE', `/members/${id}`, { key: company.key })).status, 200)
  t.equal((await fetch(`${api.origin}${new URL(shown).pathname}`)).status, 404, 'its link does not work')
  t.match(await invite(stranger, email), { body: { data: { is_new_account: true } } })
  await claim(
    (await api.call('POST', `/members/${(await findMember(stranger, email)).id}/claim-link`, { key: stranger.key }))
      .body.data.claim_url,
  )
  await invite(company, email)
  t.match(await findMember(company, email), { awaits_proof: true, is_claimed: true })
})

t.test('An admin whose address is not proven does not count as the remaining admin', async t => {
  const [stranger, company] = [await api.tenant(), await api.tenant()]
  const email = 'carl@company.example'
  await invite(stranger, email)
  await invite(company, email, 'admin')
  const last = await api.call('DELETE', `/members/${company.userId}`, { key: company.key })
  t.match(last, { status: 409, body: { error: { code: 'conflict' } } })
})

t.test(
  'POST /agent/invite answers 429 when an address receives, or an organization sends, too many emails',
  async t => {
    const sender = await api.tenant()
    const statuses: number[] = []
    for (let n = 0; n < 5; n++) {
      const { status, body } = await invite(sender, 'dora@company.example')
      statuses.push(status)
      if (status === 200) await api.call('DELETE', `/members/${body.data.user_id}`, { key: sender.key })
    }
    t.same(statuses, [200, 200, 200, 429, 429])
    t.equal((await invite(await api.tenant(), 'dora@company.example')).status, 429, 'for every inviting organization')
  },
)

t.test('Of a concurrent claim and reset one sets the password, and the other link no longer works', async t => {
  const hash = (token: string) => createHash('sha256').update(token).digest()
  for (let n = 0; n < 5; n++) {
    const { userId } = await api.tenant()
    const links = (['claim', 'reset'] as const).map(purpose => ({
      purpose,
      token: randomBytes(32).toString('base64url'),
    }))
    for (const { purpose, token } of links) {
      await query(
        api.db,
        `INSERT INTO claim_links (token_hash, user_id, purpose, expires_at, created_at)
         VALUES (?, ?, ?, now() + interval '1 hour', now())`,
        [hash(token), userId, purpose],
      )
    }
    const answers = await Promise.all(
      links.map(({ purpose, token }) => send(`/${purpose}/${token}`, { password: PASSWORD })),
    )
    t.same(answers.map(({ status }) => status).sort(), [303, 410])
  }
})

t.test('An organization does not see when a person signs in before the person has opened it', async t => {
  const [company, stranger] = [await api.tenant(), await api.tenant()]
  const email = 'eva@company.example'
  await invite(company, email)
  await claim(await mailedLink(smtp, email, 1))
  t.match(await invite(stranger, email, 'viewer'), { body: { data: { is_new_account: false } } })
  t.match(await findMember(stranger, email), { awaits_proof: false }, 'a member at once')

  const cookie = await signIn(email)
  const changed = await send('/account/password', { old: PASSWORD, password: 'eva chose another one' }, cookie)
  t.equal(changed.status, 303)
  const again = await signIn(email, 'eva chose another one')
  await send('/sign-out', {}, again)
  const acts = ['password_changed', 'signed_in', 'password_changed', 'signed_in', 'signed_out']
  t.same(await actsIn(company), acts)
  t.same(await actsIn(stranger), [])

  t.equal(await enter(await signIn(email, 'eva chose another one'), stranger), 303)
  t.same(await actsIn(stranger), [], 'nothing from before')
  await signIn(email, 'eva chose another one')
  t.same(await actsIn(stranger), ['signed_in'])
  const log = await api.call('GET', '/audit-log?resource=member', { key: stranger.key })
  t.same(
    log.body.data.map(({ action }: { action: string }) => action),
    ['created'],
    'nor the time when she opened it',
  )
})

t.test('A session opens the organization whose link was used, not the one that invited first', async t => {
  const [stranger, company] = [await api.tenant(), await api.tenant()]
  const email = 'fay@company.example'
  const { claim_url: shown } = (await invite(stranger, email)).body.data
  await claim(shown)
  await execute(api.db, 'UPDATE organizations SET name = ? WHERE id = ?', ['Fay and Sons', company.organizationId])
  await invite(company, email)
  const own = await claim(await mailedLink(smtp, email, 2), 'fay herself chose this')
  t.match(await readAccountPage(own), /<dd>Fay and Sons<\/dd>/)
  t.equal((await actsIn(stranger)).length, 1, 'only the claim by the stranger')
  t.same(await actsIn(company), ['password_changed'])
  const { id } = await findMember(company, email)
  t.equal((await api.call('DELETE', `/members/${id}`, { key: company.key })).status, 200)
  t.match(await readAccountPage(own), /None\. Choose one below/, 'nor the other one when that ends')
})

t.test('After a proof by a reset link a member of several organizations chooses which one to open', async t => {
  const [stranger, company] = [await api.tenant(), await api.tenant()]
  const email = 'gus@company.example'
  await invite(stranger, email)
  await invite(company, email)
  await execute(api.db, 'DELETE FROM password_attempts')
  await send('/forgot-password', { email })
  const own = await claim(await mailedLink(smtp, email, 3), 'gus himself chose this')
  t.match(await readAccountPage(own), /None\. Choose one below.*name="organization_id"/s)
  t.same([await actsIn(stranger), await actsIn(company)], [[], []])
  t.equal(await enter(own, company), 303)
  await signIn(email, 'gus himself chose this')
  t.same([await actsIn(stranger), await actsIn(company)], [[], ['signed_in']])
})

t.test('A proof by the link of one organization confirms the address for no other one', async t => {
  const [stranger, thief, company] = [await api.tenant(), await api.tenant(), await api.tenant()]
  const email = 'hal@company.example'
  const mayMail = async ({ organizationId }: Account) =>
    (await listAddressStates(api.db, [{ organizationId, address: email }]))[0]!.isConfirmed
  const { claim_url: shown } = (await invite(thief, email)).body.data
  await claim(shown)
  await invite(stranger, email)
  await invite(company, email)
  await execute(api.db, 'DELETE FROM password_attempts')
  const own = await claim(await mailedLink(smtp, email, 3), 'hal himself chose this')
  t.equal(await mayMail(company), true)
  t.equal(await mayMail(stranger), false, 'the person has never opened it')
  t.equal(await mayMail(thief), false, 'nor was it the person who opened it')
  t.equal(await enter(own, stranger), 303)
  t.equal(await mayMail(stranger), true, 'the person opened it')
})

t.test('An invitation replaces only an older link of its own organization', async t => {
  const [stranger, company] = [await api.tenant(), await api.tenant()]
  const email = 'ida@company.example'
  const readStatus = async (link: string) => (await fetch(`${api.origin}${new URL(link).pathname}`)).status
  const { user_id: id } = (await invite(company, email)).body.data
  const first = await mailedLink(smtp, email, 1)
  await invite(stranger, email)
  const others = await mailedLink(smtp, email, 2)
  t.same([await readStatus(first), await readStatus(others)], [200, 200])
  await api.call('DELETE', `/members/${id}`, { key: company.key })
  await invite(company, email)
  const second = await mailedLink(smtp, email, 3)
  t.same([await readStatus(first), await readStatus(others), await readStatus(second)], [404, 200, 200])

  const publicUrl = 'http://localhost:8080'
  const ofOperator = await api.db.transaction(tx => replacePasswordLinks(tx, id, publicUrl))
  t.same([await readStatus(others), await readStatus(second), await readStatus(ofOperator)], [404, 404, 200])
  const links: string[] = []
  for (let n = 0; n < 22; n++) {
    const sender = { purpose: 'claim', provesEmail: true, organizationId: crypto.randomUUID(), publicUrl } as const
    links.push(await api.db.transaction(tx => createPasswordLink(tx, id, sender)))
  }
  const statuses = await Promise.all(links.map(readStatus))
  t.same(statuses, [404, 404, ...Array(20).fill(200)], 'the newest of organizations')
  t.equal(await readStatus(ofOperator), 200, 'and that of the operator')
  const reset = { purpose: 'reset', provesEmail: true, publicUrl } as const
  const makeReset = () => api.db.transaction(tx => createPasswordLink(tx, id, reset))
  const [old, fresh] = [await makeReset(), await makeReset()]
  t.same([await readStatus(old), await readStatus(fresh)], [404, 200], 'a new reset link replaces the old one')
})
