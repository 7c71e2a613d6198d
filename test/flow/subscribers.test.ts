import t from 'tap'
import { type ApiServer, startApi } from '../support/api-server.ts'
import { type ReceivedMail, startSmtp } from '../support/smtp.ts'
import { waitFor } from '../support/wait.ts'

const PUBLIC_URL = 'https://picket.example.com'

/** A published page with two components, one of a monitor; forms are sent and links opened as a browser does. */
async function publish(server: ApiServer) {
  const make = async (path: string, body: object) => (await server.call('POST', path, { body })).body.data
  const monitor = await make('/monitors', { name: 'Shop', type: 'http', url: 'https://shop.example.com/' })
  const page = await make('/status-pages', { name: 'Acme & <b>Sons</b>', slug: 'acme' })
  const shop = await make(`/status-pages/${page.id}/components`, { name: 'Shop', monitor_id: monitor.id })
  const blog = await make(`/status-pages/${page.id}/components`, { name: 'Blog' })
  await server.call('PUT', `/status-pages/${page.id}`, { body: { is_published: true } })
  return { page, monitor, shop, blog }
}

async function browse(server: ApiServer, url: string, form?: Record<string, string>) {
  const answer = await fetch(url.replace(PUBLIC_URL, server.origin), {
    ...(form && { method: 'POST', body: new URLSearchParams(form) }),
  })
  return { status: answer.status, headers: answer.headers, html: await answer.text() }
}

const linkIn = (mail: ReceivedMail, path: string) =>
  new RegExp(`${PUBLIC_URL}/status/acme/${path}\\?\\S+`).exec(mail.text ?? '')?.[0] ?? ''

t.test('A visitor subscribes, is notified of an incident, and unsubscribes with one click', async t => {
  const smtp = await startSmtp(t)
  const server = await startApi(t, { ROLES: 'api,deliver', SMTP_URL: smtp.url, PUBLIC_URL })
  const { page, monitor, blog } = await publish(server)
  const form = `${PUBLIC_URL}/status/acme/subscribe`
  const incident = (body: object) => server.call('POST', '/incidents', { body: { monitor_ids: [monitor.id], ...body } })

  t.match((await browse(server, form)).html, 'Email address')
  const asked = await browse(server, form, { email: 'ann@example.com' })
  t.equal(asked.status, 200)
  t.equal(asked.headers.get('cache-control'), 'no-store')
  const again = await browse(server, form, { email: 'Ann@Example.com' })
  t.equal(again.html, asked.html, 'a repeated request has the same response')
  const [confirmation] = await smtp.waitFor(1)
  t.same(confirmation!.to, ['ann@example.com'])
  t.match(confirmation!.headers.subject, 'Confirm your subscription to Acme & <b>Sons< b>', 'mail programs see no link')

  await incident({ title: 'Before any confirmation', message: 'Sent to no subscriber.' })
  const confirm = linkIn(confirmation!, 'subscription/confirm')
  t.equal((await browse(server, `${confirm}x`)).status, 404, 'a forged link')
  t.match((await browse(server, confirm)).html, /<form method="post">/, 'opening the link confirms nothing')
  t.same((await server.call('GET', `/status-pages/${page.id}/subscribers`)).body.meta.email, 0)
  t.match((await browse(server, confirm, {})).html, 'You are subscribed')
  await browse(server, form, { email: 'ben@example.com', scope: 'some', component: blog.id })
  const [, toBen] = await smtp.waitFor(2)
  await browse(server, linkIn(toBen!, 'subscription/confirm'), {})

  const { data } = (await incident({ title: 'Checkout <script>', message: 'We look into it.' })).body
  const update = (body: object) => server.call('POST', `/incidents/${data.id}/updates`, { body })
  await update({ message: 'The intern did it.', status: 'identified', is_internal: true })
  await update({ message: 'A fix is in place.', status: 'monitoring' })
  await server.call('POST', `/incidents/${data.id}/acknowledge`)
  await update({ message: 'All is well.', status: 'resolved' })
  const notices = (await smtp.waitFor(5)).slice(2)
  t.same(
    notices.map(mail => [mail.to[0], mail.headers.subject]),
    ['Investigating', 'Monitoring', 'Resolved'].map(status => [
      'ann@example.com',
      `[Acme & <b>Sons</b>] ${status}: Checkout <script>`,
    ]),
    'each public update once and in order; Ben chose another component',
  )
  t.same(
    notices.map(mail => /We look into it\.|A fix is in place\.|All is well\./.exec(mail.text ?? '')?.[0]),
    ['We look into it.', 'A fix is in place.', 'All is well.'],
  )
  t.notMatch(notices.map(mail => mail.raw).join(), /intern|Sent to no subscriber/)
  t.match(notices[0]!.raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click$/m)

  const manage = linkIn(notices[0]!, 'subscription')
  t.match((await browse(server, manage)).html, 'Unsubscribe', 'opening the link changes nothing')
  t.match((await server.call('GET', `/status-pages/${page.id}/subscribers`)).body, {
    data: [
      { address: 'b***@example.com', type: 'email', component_ids: [blog.id] },
      { address: 'a***@example.com', type: 'email', component_ids: null, is_paused: false, consecutive_failures: 0 },
    ],
    meta: { page: 1, per_page: 25, total: 2, total_pages: 1, email: 2, webhook: 0 },
  })
  const damaged = await browse(server, `${manage}x`, { 'List-Unsubscribe': 'One-Click' })
  t.same([damaged.status, /You are unsubscribed/.test(damaged.html)], [404, false], 'a damaged link removes nothing')
  const other = (await server.call('POST', '/status-pages', { body: { name: 'Other', slug: 'other' } })).body.data
  await server.call('PUT', `/status-pages/${other.id}`, { body: { is_published: true } })
  const elsewhere = manage.replace('/status/acme/', '/status/other/')
  for (const what of ['the address now shows another page', 'and again, because mail programs try twice']) {
    const ended = await browse(server, elsewhere, { 'List-Unsubscribe': 'One-Click' })
    t.same([ended.status, /You are unsubscribed/.test(ended.html)], [200, true], what)
  }
  await incident({ title: 'Later', message: 'Ann has left.' })
  await server.call('POST', '/incidents', { body: { title: 'Everything', message: 'For all subscribers.' } })
  const [last] = (await smtp.waitFor(6)).slice(5)
  t.same([last!.to[0], last!.headers.subject], ['ben@example.com', '[Acme & <b>Sons</b>] Investigating: Everything'])
  t.equal(smtp.mails.length, 6, 'an unsubscribed address receives nothing')
  await server.call('PUT', `/status-pages/${page.id}`, { body: { is_published: false } })
  const bens = linkIn(last!, 'subscription')
  await waitFor(async () => (await browse(server, bens)).status === 404, { label: 'the page being unpublished' })
  t.equal((await browse(server, bens, { 'List-Unsubscribe': 'One-Click' })).status, 200, 'also while it is unpublished')
  t.same((await server.call('GET', `/status-pages/${page.id}/subscribers`)).body.data, [])
  t.same((await server.call('GET', '/alerts/log')).body.data, [], 'the alert log does not show subscribers')
  t.same((await server.call('GET', '/alerts/channels')).body.data, [])
})
