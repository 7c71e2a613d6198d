import t from 'tap'
import { renameOrganization } from '../../control-plane/accounts/organizations/actions.ts'
import { parseRows, proveAddress } from '../support/access-review.ts'
import { startApi } from '../support/api-server.ts'
import { HOSTILE_TEXTS } from '../support/hostile-texts.ts'
import { openHtmlParser } from '../support/html-parser.ts'
import { findMailProblems, readAllowedContent } from '../support/mail-checks.ts'
import { startSmtp } from '../support/smtp.ts'
import { waitFor } from '../support/wait.ts'

// Hostile names of organizations, members and keys, in account pages and in emails to people who may not know the sender.

const PUBLIC_URL = 'http://picket.test'
const smtp = await startSmtp(t)
const api = await startApi(t, {
  ROLES: 'api,deliver',
  DEFAULT_PLAN: 'business',
  PUBLIC_URL,
  SMTP_URL: smtp.url,
  MAIL_FROM: 'Picket <picket@example.com>',
  RATE_LIMIT_PER_MINUTE: '1000000',
  RATE_LIMIT_PER_PROJECT: '1000000',
})
const parser = await openHtmlParser(t)
const email = 'owner@example.com'
const made = await api.call('POST', '/agent/bootstrap', { key: null, body: { email, name: 'Plain words' } })
const { api_key: key, organization_id: organizationId } = made.body.data
let people = 0

/** Hostile texts of one line, which can be names. */
const NAMES = Object.entries(HOSTILE_TEXTS).filter(([, text]) => !/[\r\n\0]|\p{Surrogate}/u.test(text))

/** Sends emails of an organization with this name: an invitation and a request to confirm an address. */
async function sendEmails(name: string) {
  await renameOrganization(api.db, organizationId, name)
  // resets the limit of invitations
  await api.db.raw('DELETE FROM password_attempts')
  const [invited, asked] = [`invited-${++people}@example.com`, `asked-${people}@example.com`]
  const invitation = await api.call('POST', '/agent/invite', { key, body: { email: invited, name } })
  const channel = { name, type: 'email', config: { to: [asked] } }
  const answer = await api.call('POST', '/alerts/channels', { key, body: channel })
  if (invitation.status !== 200 || answer.status !== 201) throw new Error(JSON.stringify([invitation, answer]))
  await api.call('DELETE', `/alerts/channels/${answer.body.data.id}`, { key })
  return waitFor(() => {
    const mails = smtp.mails.filter(({ to }) => to.includes(invited) || to.includes(asked))
    return mails.length === 2 ? mails : null
  })
}

t.test('An unrequested email contains no header, link or markup from a name', async t => {
  const known = await readAllowedContent(await sendEmails('Plain words'), parser)
  for (const [what, name] of [
    ...NAMES,
    ['a link', 'Bank: log in at https://evil.example/x or evil.example'] as const,
  ]) {
    for (const mail of await sendEmails(name)) {
      t.same(await findMailProblems(mail, known, parser, PUBLIC_URL), [], `${mail.headers.subject} with ${what}`)
      const all = [mail.headers.subject, mail.text, mail.html].join('\n')
      t.notMatch(
        all,
        /https?:\/\/evil|evil\.example|bank\.example/,
        `${what}: no text that a mail program turns into a link`,
      )
    }
  }
})

t.test('The page that confirms an address shows the name of the organization as text', async t => {
  const readMailedPage = async (name: string) => {
    const mail = (await sendEmails(name)).find(({ to }) => to.some(one => one.startsWith('asked')))!
    const link = new URL(/http:\/\/picket\.test\/\S+/.exec(mail.text ?? '')![0])
    const answer = await fetch(`${api.origin}${link.pathname}${link.search}`)
    t.equal(answer.status, 200, link.pathname)
    return parser.parse(await answer.text())
  }
  const known = await readMailedPage('Plain words')
  for (const [what, name] of NAMES) {
    const { elements, links } = await readMailedPage(name)
    t.same([elements, links.length], [known.elements, known.links.length], what)
  }
})

t.test('Account pages show names as text', async t => {
  await renameOrganization(api.db, organizationId, 'Plain words')
  await api.call('POST', '/api-keys', { key, body: { name: 'Plain words', scope: 'read' } })
  const { owner, location } = await proveAddress(api.origin, smtp, email)
  t.equal(location, '/account/access')
  const paths = ['/account/access', '/account']
  const known = new Set<string>()
  for (const path of paths) {
    for (const one of (await parser.parse((await owner.get(path)).text)).elements) known.add(one)
  }
  const rows = parseRows((await owner.get(paths[0]!)).text)
  t.ok(rows.length > 2)
  const ids = rows.filter(({ kind, id }) => kind === 'key' && id !== 'all').map(({ id }) => id)
  for (const [what, name] of NAMES) {
    await renameOrganization(api.db, organizationId, name)
    await api.db.raw('UPDATE api_keys SET name = ? WHERE id = ANY (?)', [name, ids])
    for (const path of paths) {
      const page = await owner.get(path)
      t.equal(page.status, 200, path)
      const { elements, text, turned } = await parser.parse(page.text)
      t.same(turned, [], `${path} with ${what}: it turns no other text`)
      t.notMatch(/<h1>[^<]*/.exec(page.text)?.[0] ?? '', /[\u202a-\u202e\u2066-\u2069]/, `${path} with ${what}`)
      t.same(
        elements.filter(one => !known.has(one)),
        [],
        `${path} with ${what}`,
      )
      if (/^[\x20-\x7e]+$/.test(name)) t.ok(text.includes(name), `${path} with ${what}: it is there to be read`)
    }
  }
})
