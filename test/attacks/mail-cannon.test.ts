import t from 'tap'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { awayFromMidnight } from '../support/midnight.ts'
import { startSmtp } from '../support/smtp.ts'
import { waitFor } from '../support/wait.ts'

await awayFromMidnight()

const smtp = await startSmtp(t)
const api = await startApi(t, { ROLES: 'api,deliver', SMTP_URL: smtp.url, CONFIRMATIONS_PER_ORGANIZATION: '120' })

const PHISHING = 'Your account at Example Bank is locked'
const victims = (count: number, name: string) => Array.from({ length: count }, (_, i) => `${name}${i}@victims.example`)

async function addChannel(key: string, to: string[]): Promise<{ status: number; data: Channel; error: Problem }> {
  const { status, body } = await api.call('POST', '/alerts/channels', {
    key,
    body: { name: 'Ops', type: 'email', config: { to } },
  })
  return { status, data: body.data, error: body.error }
}
type Problem = { code: string; message: string }
type Channel = {
  id: string
  email_addresses: { address: string; status: string; confirmation_sent_at: string | null }[]
}

const subscribe = (key: string, id: string) =>
  api.call('POST', '/alerts/project-channels', { key, body: { alert_channel_id: id, alert_type: 'incident' } })
const openIncident = (key: string, title = PHISHING) => api.call('POST', '/incidents', { key, body: { title } })
const test = (key: string, id: string) => api.call('POST', `/alerts/channels/${id}/test`, { key })
const readLog = async (key: string) => (await api.call('GET', '/alerts/log', { key })).body.data
const endedLog = (key: string, count: number) =>
  waitFor(
    async () => {
      const entries = await readLog(key)
      return entries.length >= count && entries.every((one: { status: string }) => one.status !== 'pending')
        ? entries
        : null
    },
    { label: `${count} deliveries that ended` },
  )
const mailsTo = (address: string) => smtp.mails.filter(mail => mail.to.includes(address))
/** Waits for the confirmation to an address, and returns the link in it. */
async function waitForConfirmationLink(address: string): Promise<string> {
  const mail = await waitFor(() => mailsTo(address).at(-1) ?? null, { label: `a mail to ${address}` })
  return /https?:\/\/\S+\/confirm-address\/[\w-]+/.exec(mail.text ?? '')?.[0] ?? ''
}
const open = (link: string, method = 'GET') =>
  fetch(`${api.origin}${new URL(link).pathname}`, { method, ...(method === 'POST' && { headers: FORM }) })
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

t.test('Each invented address of five channels gets one confirmation and no text of the account', async t => {
  const { key } = await api.tenant('free')
  const channels = []
  for (const name of ['a', 'b', 'c', 'd', 'e']) channels.push(await addChannel(key, victims(20, name)))
  t.same(
    channels.map(({ status }) => status),
    [201, 201, 201, 201, 201],
  )
  for (const { data } of channels) await subscribe(key, data.id)
  const { body } = await openIncident(key)
  for (let n = 0; n < 3; n++) {
    await api.call('POST', `/incidents/${body.data.id}/updates`, {
      key,
      body: { message: `${PHISHING}: https://evil.example/` },
    })
    await test(key, channels[0]!.data.id)
  }
  const entries = await endedLog(key, 5 * 4 + 3)
  t.ok(entries.every((one: { status: string }) => one.status === 'skipped'))
  t.match(entries[0].attempts, [{ error: /not confirmed/ }])
  await smtp.waitFor(100)
  const sent = smtp.mails.filter(mail => mail.to.some(address => address.endsWith('victims.example')))
  t.equal(sent.length, 100, 'one for each address')
  t.notOk(sent.some(mail => mail.raw.includes('Example Bank') || mail.raw.includes('evil.example')))
})

t.test('An address gets alerts after its owner confirmed it by the link, which works once', async t => {
  const { key } = await api.tenant('free')
  const { data } = await addChannel(key, ['Ann@Ops.example', 'ben@ops.example'])
  t.match(data.email_addresses, [
    { address: 'ann@ops.example', status: 'unconfirmed', confirmation_sent_at: /^20/ },
    { address: 'ben@ops.example', status: 'unconfirmed' },
  ])
  const link = await waitForConfirmationLink('ann@ops.example')
  const page = await open(link)
  const html = await page.text()
  t.equal(page.status, 200)
  t.match(html, /Acme/)
  t.match(html, /alerts/)
  t.notMatch(html, /<script/)
  t.match(page.headers.get('content-security-policy'), /default-src 'none'|script-src 'none'/)
  t.match((await api.call('GET', `/alerts/channels/${data.id}`, { key })).body.data.email_addresses, [
    { status: 'unconfirmed' },
    { status: 'unconfirmed' },
  ])
  t.equal((await open(link, 'POST')).status, 200)
  t.equal((await open(link, 'POST')).status, 410, 'the link works once')
  const read = (await api.call('GET', `/alerts/channels/${data.id}`, { key })).body.data
  t.match(read.email_addresses, [{ status: 'confirmed' }, { status: 'unconfirmed' }])
  await test(key, data.id)
  const [entry] = await endedLog(key, 1)
  t.match(entry, { status: 'delivered', attempts: [{ error: /ben@ops\.example.*not confirmed/ }] })
  t.match(mailsTo('Ann@Ops.example').at(-1)?.headers, { subject: /Test of the channel/ })
  t.notOk(mailsTo('ben@ops.example').some(mail => /Test of the channel/.test(mail.raw)))
  t.equal((await open(`${api.origin}/confirm-address/made-up`)).status, 404)
})

t.test(
  'A test to an unconfirmed address sends a confirmation, at most one in ten minutes, and nothing else',
  async t => {
    const { key } = await api.tenant('free')
    const { data } = await addChannel(key, ['cat@ops.example'])
    const first = await waitForConfirmationLink('cat@ops.example')
    await test(key, data.id)
    const sql = `UPDATE mail_addresses SET asked_at = asked_at - interval '11 minutes' WHERE address = 'cat@ops.example'`
    await execute(api.db, sql)
    for (let n = 0; n < 2; n++) await test(key, data.id)
    const entries = await endedLog(key, 3)
    t.ok(entries.every((one: { status: string }) => one.status === 'skipped'))
    const isPosted = async () => (await query(api.db, 'SELECT FROM account_mails')).length === 0
    await waitFor(isPosted, { label: 'all confirmations to leave' })
    t.equal(mailsTo('cat@ops.example').length, 2)
    const second = await waitForConfirmationLink('cat@ops.example')
    t.not(second, first)
    t.equal((await open(first)).status, 404, 'the link before it works no more')
    t.equal((await open(second)).status, 200)
  },
)

t.test('A member with a proven address gets alerts; a person whom an admin only invited does not', async t => {
  const { key, userId } = await api.tenant('free')
  const [{ email }] = (await api.call('GET', '/members', { key })).body.data
  const { data } = await addChannel(key, [email])
  t.match(data.email_addresses, [{ address: email, status: 'unconfirmed' }], 'it was only named at the bootstrap')
  await execute(api.db, 'UPDATE users SET email_proven_at = now() WHERE id = ?', [userId])
  const other = await api.tenant('free')
  await api.call('POST', '/agent/invite', { key: other.key, body: { email } })
  const theirs = await addChannel(other.key, [email])
  t.match(theirs.data.email_addresses, [{ status: 'unconfirmed' }], 'invited elsewhere, without a word of theirs')
  const read = (await api.call('GET', `/alerts/channels/${data.id}`, { key })).body.data
  t.match(read.email_addresses, [{ status: 'confirmed' }])
  await test(key, data.id)
  t.match(await endedLog(key, 1), [{ status: 'delivered' }])
})

t.test('An invitation contains the link of Picket only, with any name of the organization', async t => {
  const { key, organizationId } = await api.tenant('free')
  const name = 'Your account is locked: https://evil.example/login or www.evil.example'
  await execute(api.db, 'UPDATE organizations SET name = ? WHERE id = ?', [name, organizationId])
  const [email] = victims(1, 'invited')
  await api.call('POST', '/agent/invite', { key, body: { email, role: 'viewer' } })
  const mail = await waitFor(() => mailsTo(email!).at(-1) ?? null, { label: 'the invitation' })
  for (const part of [mail.headers.subject, mail.text, mail.html]) t.notMatch(part, /evil\.example|https:\/\/evil/)
})

t.test('The confirmation of a status page contains the link of the page only, with any name of the page', async t => {
  const { key } = await api.tenant('free')
  const name = 'Your account is locked: https://evil.example/login or www.evil.example'
  const page = (await api.call('POST', '/status-pages', { key, body: { name, slug: 'locked' } })).body.data
  await api.call('PUT', `/status-pages/${page.id}`, { key, body: { is_published: true } })
  const [email = ''] = victims(1, 'subscribed')
  const form = new URLSearchParams({ email })
  const headers = { ...FORM, origin: api.origin }
  t.equal((await fetch(`${api.origin}/status/locked/subscribe`, { method: 'POST', body: form, headers })).status, 200)
  const mail = await waitFor(() => mailsTo(email).at(-1) ?? null, { label: 'the confirmation' })
  for (const part of [mail.headers.subject, mail.text, mail.html]) {
    t.notMatch(part, /evil\.example|https:\/\/evil/)
    t.match(part, /Your account is locked/, 'the page is named')
  }
})

t.test('Confirmations beyond the daily limit are refused with 429, and nothing is stored', async t => {
  const { key } = await api.tenant('free')
  for (let n = 0; n < 6; n++) t.equal((await addChannel(key, victims(20, `f${n}-`))).status, 201)
  const refused = await api.call('POST', '/alerts/channels', {
    key,
    body: { name: 'Ops', type: 'email', config: { to: victims(1, 'late') } },
  })
  t.match(
    { status: refused.status, error: refused.body.error },
    { status: 429, error: { code: 'rate_limited', message: /120 confirmations a day/ } },
  )
  t.ok(Number(refused.headers.get('retry-after')) > 0)
  t.equal((await api.call('GET', '/alerts/channels', { key })).body.meta.total, 6)
})

t.test('Many accounts together cannot fill one mailbox with confirmations', async t => {
  const answers = []
  for (let n = 0; n < 11; n++) answers.push(await addChannel((await api.tenant('free')).key, ['one@victims.example']))
  t.same(
    answers.map(({ status }) => status),
    [...Array.from({ length: 10 }, () => 201), 429],
  )
  t.match(answers[10]!.error, { code: 'rate_limited', message: /10 confirmations a day to one address/ })
})

t.test('Where mail is only shown on this machine, alerts are sent without confirmations', async t => {
  const shown = await startSmtp(t)
  const local = await startApi(t, { ROLES: 'api,deliver', SMTP_URL: shown.url, SMTP_IS_LOCAL: 'yes' })
  const body = { name: 'Ops', type: 'email', config: { to: ['ann@ops.example'] } }
  const { data } = (await local.call('POST', '/alerts/channels', { body })).body
  t.match(data.email_addresses, [{ status: 'confirmed', confirmation_sent_at: null }])
  await local.call('POST', `/alerts/channels/${data.id}/test`)
  t.match(await shown.waitFor(1), [{ headers: { subject: /Test of the channel/ } }])
})
