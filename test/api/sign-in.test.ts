import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { rawAsk } from '../support/raw-ask.ts'
import { startSmtp } from '../support/smtp.ts'
import { createVisitor } from '../support/visitor.ts'
import { waitFor } from '../support/wait.ts'
import { runWhileLocked } from '../support/while-held.ts'

const smtp = await startSmtp(t)
const api = await startApi(t, { ROLES: 'api,deliver', SMTP_URL: smtp.url, MAIL_FROM: 'Picket <picket@example.com>' })
const PASSWORD = 'correct horse battery'
const here = () => createVisitor(api.origin)
const toPath = (url: string) => new URL(url).pathname

/** Invites a person into a new organization. `claim`: path of the claim link. */
async function invited(role = 'editor') {
  const { key, organizationId } = await api.tenant()
  const email = `${crypto.randomUUID()}@example.com`
  const { body } = await api.call('POST', '/agent/invite', { key, body: { email, role } })
  return { key, organizationId, email, userId: body.data.user_id as string, claim: toPath(body.data.claim_url) }
}

async function claimed() {
  const person = await invited()
  const visitor = here()
  const { status } = await visitor.post(person.claim, { password: PASSWORD })
  if (status !== 303) throw new Error(`the claim answered ${status}`)
  return { ...person, visitor }
}

/** Resets attempt counters, because all requests come from one network. */
t.beforeEach(() => execute(api.db, 'DELETE FROM password_attempts'))

t.test('A claim link sets a password once and signs in; opening it changes nothing', async t => {
  const { claim, email } = await invited()
  const visitor = here()
  for (let i = 0; i < 2; i++) {
    const page = await visitor.get(claim)
    t.equal(page.status, 200)
    t.match(page.text, email)
    t.match(page.headers.get('content-security-policy'), "default-src 'none'")
    t.equal(page.headers.get('referrer-policy'), 'same-origin')
  }
  t.equal(visitor.cookie(), null)
  const set = await visitor.post(claim, { password: PASSWORD })
  t.match(set, { status: 303, location: '/' })
  const cookie = set.headers.get('set-cookie')!
  t.match(cookie, /^__Host-picket_session=[\w-]{43}; .*Path=\/; Secure; HttpOnly; SameSite=Lax$/)
  t.match((await visitor.get('/account')).text, email)
  t.match(await here().get(claim), { status: 410, text: /already used/ })
  t.match(await here().post(claim, { password: 'another long password' }), { status: 410 })
  const stored = await query<{ hash: string }>(api.db, 'SELECT password_hash AS hash FROM users WHERE email = ?', [
    email,
  ])
  t.match(stored[0]!.hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
})

t.test('Of two concurrent uses of a claim link one gets the account', async t => {
  const { claim, email } = await invited()
  const visitors = [here(), here(), here()]
  const answers = await Promise.all(visitors.map((one, i) => one.post(claim, { password: `${PASSWORD} ${i}` })))
  const statuses = answers.map(({ status }) => status)
  t.same([...statuses].sort(), [303, 410, 410])
  const winner = statuses.indexOf(303)
  t.equal((await here().post('/sign-in', { email, password: `${PASSWORD} ${winner}` })).status, 303)
})

t.test(
  'A claim link works for 72 hours; an expired, unknown or other kind of link is refused with the reason',
  async t => {
    const { claim, email } = await invited()
    t.match(await here().get(claim.replace('/claim/', '/reset/')), { status: 404, text: /The link is unknown/ })
    t.match(await here().get('/claim/nothing'), { status: 404 })
    const age = (by: string) =>
      execute(
        api.db,
        `UPDATE claim_links SET expires_at = expires_at - ?::interval
       WHERE user_id = (SELECT id FROM users WHERE email = ?)`,
        [by, email],
      )
    await age('71 hours 58 minutes')
    t.equal((await here().get(claim)).status, 200)
    await age('2 minutes')
    t.match(await here().get(claim), { status: 410, text: /It has expired/ })
  },
)

t.test('A weak password is refused with a sentence at the field', async t => {
  const { claim, email } = await invited()
  const rows: [string, RegExp][] = [
    ['short', /at least 12 characters/],
    ['x'.repeat(257), /at most 256/],
    ['passwordpassword', /too common/],
    ['aaaaaaaaaaaaaaaa', /too common/],
    [`${email}!`, /must not contain your email address/],
    ['half of a pair \u0000 here', /invalid characters/],
  ]
  for (const [password, sentence] of rows) {
    const answer = await here().post(claim, { password })
    t.match(answer, { status: 400, text: sentence }, password.slice(0, 20))
    t.match(answer.text, /aria-invalid/)
  }
})

t.test('A wrong password, an unclaimed account and an unknown address get the same answer', async t => {
  const { email } = await claimed()
  const unclaimed = await invited()
  const answers = await Promise.all([
    here().post('/sign-in', { email, password: 'wrong wrong wrong' }),
    here().post('/sign-in', { email: unclaimed.email, password: PASSWORD }),
    here().post('/sign-in', { email: 'nobody@example.com', password: PASSWORD }),
  ])
  t.equal((await here().post('/sign-in', { email: 'a\0b@example.com', password: PASSWORD })).status, 401)
  const masked = answers.map(({ status, text }) => `${status} ${text.replace(/value="[^"]*"/g, '')}`)
  t.equal(new Set(masked).size, 1)
  t.match(masked[0], /^401 [\s\S]*The email address or the password is wrong/)
  const visitor = here()
  t.match(await visitor.post('/sign-in', { email: email.toUpperCase(), password: PASSWORD, return_to: '/docs' }), {
    status: 303,
    location: '/docs',
  })
  t.match(await visitor.get('/sign-in?return_to=/docs'), { status: 303, location: '/docs' })
})

t.test(
  'Ten wrong passwords for one address block further attempts from that network, also concurrent ones',
  async t => {
    const { email } = await claimed()
    const tries = Array.from({ length: 16 }, () => here().post('/sign-in', { email, password: 'a guess, a guess' }))
    const statuses = (await Promise.all(tries)).map(({ status }) => status)
    t.equal(statuses.filter(status => status === 401).length, 10)
    t.equal(statuses.filter(status => status === 429).length, 6)
    const late = await here().post('/sign-in', { email, password: PASSWORD })
    t.match(late, { status: 429, text: /Try again in 15 minutes/ })
    t.ok(Number(late.headers.get('retry-after')) > 800)
  },
)

t.test('A session from before the sign-in is replaced by a new one', async t => {
  const { email } = await claimed()
  const visitor = here()
  const planted = 'A'.repeat(43)
  visitor.setCookie(planted)
  await visitor.post('/sign-in', { email, password: PASSWORD })
  t.not(visitor.cookie(), planted)
  const attacker = here()
  attacker.setCookie(planted)
  t.match(await attacker.get('/account'), { status: 303, location: '/sign-in?return_to=/account' })
})

t.test('Signing out ends the session, not only the cookie', async t => {
  const { visitor } = await claimed()
  const token = visitor.cookie()
  t.match(await visitor.post('/sign-out', {}), { status: 303, location: '/sign-in' })
  t.equal(visitor.cookie(), null)
  visitor.setCookie(token)
  t.equal((await visitor.get('/account')).status, 303)
})

t.test('Changing the password ends every other session; a wrong current password changes nothing', async t => {
  const { visitor, email } = await claimed()
  await execute(api.db, 'DELETE FROM password_attempts')
  const elsewhere = here()
  await elsewhere.post('/sign-in', { email, password: PASSWORD })
  const wrong = await visitor.post('/account/password', { old: 'not this one at all', password: 'a new long password' })
  t.match(wrong, { status: 400, text: /The current password is wrong/ })
  t.equal((await elsewhere.get('/account')).status, 200)
  const before = visitor.cookie()
  t.match(await visitor.post('/account/password', { old: PASSWORD, password: 'a new long password' }), {
    status: 303,
    location: '/account?changed=1',
  })
  t.not(visitor.cookie(), before)
  const counted = await query(api.db, 'SELECT 1 FROM password_attempts')
  t.equal(counted.length, 3, 'the wrong password counts for the network and the address, not for both; and the change')
  t.equal((await visitor.get('/account')).status, 200)
  t.equal((await elsewhere.get('/account')).status, 303)
  t.equal((await here().post('/sign-in', { email, password: PASSWORD })).status, 401)
})

t.test('A user lists the own sessions and ends one or all others, but not those of other users', async t => {
  const { visitor, email, key } = await claimed()
  const firefox = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0' }
  const [one, two, stranger] = [here(), here(), (await claimed()).visitor]
  for (const elsewhere of [one, two]) await elsewhere.post('/sign-in', { email, password: PASSWORD }, firefox)
  const idsIn = (text: string) => [...text.matchAll(/name="session_id" value="([0-9a-f-]{36})"/g)].map(([, id]) => id!)
  const page = (await visitor.get('/account')).text
  t.match(page, /Firefox on Linux/)
  t.match(page, /Signed in <time[^>]*>less than an hour ago<\/time> from 127\.0\.0\.1/)
  t.notMatch(page, /Last seen/)
  await execute(api.db, "UPDATE sessions SET created_at = created_at - interval '3 days'")
  t.match(
    (await visitor.get('/account')).text,
    /3 days ago<\/time> from[^?]*Last seen <time[^>]*>less than an hour ago/,
  )
  t.equal(idsIn(page).length, 2, 'both other sessions, not this one')

  const end = (who: typeof visitor, id: string) => who.post('/account/sessions/end', { session_id: id })
  for (const id of [...idsIn(page), 'others']) await end(stranger, id)
  t.equal(idsIn((await visitor.get('/account')).text).length, 2)
  t.match(await end(visitor, idsIn(page)[0]!), { status: 303, location: '/account?ended=1' })
  t.equal((await two.get('/account')).status, 303, 'the newest session is first')
  t.equal((await one.get('/account')).status, 200)
  await end(visitor, 'others')
  t.equal((await one.get('/account')).status, 303)
  t.match(await visitor.get('/account?ended=1'), { status: 200, text: /The session was ended/ })
  t.equal((await end(visitor, 'x')).status, 404)
  t.equal((await end(one, 'others')).location, '/sign-in?return_to=/account')

  const { body } = await api.call('GET', '/audit-log?resource=user', { key })
  t.match(
    body.data.map(({ action }: { action: string }) => action),
    ['signed_out', 'signed_out', 'signed_in', 'signed_in', 'password_changed'],
  )
  t.match(body.data[2].changes, { session: { from: null }, browser: { to: 'Firefox on Linux' } })
})

t.test('A sign-in with a password that is being changed gets no session', async t => {
  const { email } = await claimed()
  const late = await runWhileLocked(
    api.db,
    tx => execute(tx, `UPDATE users SET password_hash = 'another' WHERE email = ?`, [email]),
    () => here().post('/sign-in', { email, password: PASSWORD }),
  )
  t.equal(late.status, 401)
})

t.test('A reset link is mailed, works once for an hour, and does not reveal whether an account exists', async t => {
  const { email, visitor } = await claimed()
  const [known, unknown] = await Promise.all(
    [email, 'nobody@example.com'].map(address => here().post('/forgot-password', { email: address })),
  )
  t.equal(known!.text, unknown!.text)
  t.equal(known!.status, 200)
  // the invitation may arrive only now
  const mailed = (words: RegExp) =>
    waitFor(() => smtp.mails.find(({ to, text }) => to.includes(email) && words.test(text ?? '')))
  const mail = await mailed(/\/reset\//)
  t.same(mail.to, [email])
  const reset = toPath(/http\S+\/reset\/[\w-]{43}/.exec(mail.text!)![0])
  t.equal((await here().post(reset, { password: 'yet another password' })).status, 303)
  t.equal((await visitor.get('/account')).status, 303, 'sessions end')
  t.ok(await mailed(/was changed/))
  t.equal((await here().post(reset, { password: 'again another password' })).status, 410)
  t.equal((await here().post('/sign-in', { email, password: 'yet another password' })).status, 303)
  const statuses = []
  for (let i = 0; i < 4; i++) statuses.push((await here().post('/forgot-password', { email })).status)
  t.same(statuses, [200, 200, 429, 429])
})

t.test(
  'An invitation is sent with text from users escaped, and again after a temporary failure of the mail server',
  async t => {
    const { key, organizationId } = await api.tenant()
    await execute(api.db, `UPDATE organizations SET name = ? WHERE id = ?`, [
      'Acme\r\nBcc: x@example.com <b>',
      organizationId,
    ])
    smtp.replyWith('451 4.3.0 Try later')
    const email = `${crypto.randomUUID()}@example.com`
    await api.call('POST', '/agent/invite', { key, body: { email } })
    await execute(api.db, `UPDATE account_mails SET next_attempt_at = now()`)
    const sent = async () => {
      await execute(api.db, `UPDATE account_mails SET next_attempt_at = now() WHERE attempts > 0`)
      await execute(api.db, 'NOTIFY account_mails')
      return smtp.mails.find(({ to }) => to.includes(email))
    }
    const mail = await waitFor(sent, { everyMs: 50, label: 'the invitation' })
    t.match(mail.raw, /Subject: You were added to Acme Bcc: x example com/)
    t.notMatch(mail.raw, /^Bcc:/m)
    t.match(mail.text, /\/claim\//)
    t.notMatch(mail.html, /<b>/)
  },
)

t.test('Forms of other sites are refused, and own forms redirect within the installation', async t => {
  const { visitor } = await claimed()
  const elsewhere: Record<string, string>[] = [
    { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: api.origin, 'sec-fetch-site': 'cross-site' },
    { origin: 'http://localhost:1', 'sec-fetch-site': 'same-site' },
  ]
  for (const headers of elsewhere) {
    const answer = await visitor.post('/account/password', { old: PASSWORD, password: 'stolen stolen stolen' }, headers)
    t.equal(answer.status, 403, JSON.stringify(headers))
  }
  const leads = [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '/\t/evil.example',
    '/a\r\nSet-Cookie: x=1',
    '',
  ]
  const { email } = await claimed()
  for (const lead of leads) {
    const answer = await here().post('/sign-in', { email, password: PASSWORD, return_to: lead })
    t.equal(answer.location, '/', JSON.stringify(lead))
  }
})

t.test('A role decides what a member may do, and a removed member has no access', async t => {
  const { visitor, key, userId } = await claimed()
  t.match((await visitor.get('/account')).text, 'editor')
  await api.call('PUT', `/members/${userId}`, { key, body: { role: 'viewer' } })
  t.match((await visitor.get('/account')).text, 'viewer')
  await api.call('DELETE', `/members/${userId}`, { key })
  t.match(await visitor.get('/account'), { status: 200, text: /None\. Ask an admin/ })
})

t.test('A member of two organizations can switch between these only', async t => {
  const { visitor, email } = await claimed()
  await execute(api.db, 'UPDATE users SET email_proven_at = now() WHERE email = ?', [email])
  const other = await api.tenant()
  await api.call('POST', '/agent/invite', { key: other.key, body: { email, role: 'viewer' } })
  const switchTo = (id: string) => visitor.post('/account/organization', { organization_id: id })
  t.equal((await switchTo(other.organizationId)).status, 303)
  t.match((await visitor.get('/account')).text, 'viewer')
  const stranger = await api.tenant()
  t.equal((await switchTo(stranger.organizationId)).status, 404)
  t.equal((await switchTo('x')).status, 404)
})

t.test('Session cookies are not accepted below /api/v1', async t => {
  const { visitor } = await claimed()
  const answer = await visitor.get('/api/v1/monitors')
  t.equal(answer.status, 401)
})

t.test('Sign-ins and changed passwords are in the audit log of the organization', async t => {
  const { key, email } = await claimed()
  await here().post('/sign-in', { email, password: PASSWORD })
  const { body } = await api.call('GET', '/audit-log?resource=user', { key })
  t.match(body.data, [
    { action: 'signed_in', actor: { kind: 'user', name: email } },
    { action: 'password_changed', actor: { kind: 'user', name: email } },
  ])
})

t.test('Sign-in is a 404 on a customer’s domain', async t => {
  const { status } = await rawAsk(api.origin, '/sign-in', { headers: { host: 'status.example.com' } })
  t.equal(status, 421)
})
