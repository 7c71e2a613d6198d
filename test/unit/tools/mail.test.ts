import t from 'tap'
import { email } from '../../../control-plane/alerting/channels/kinds/email.ts'
import type { MailContent } from '../../../control-plane/alerting/channels/registry.ts'
import { createMailer } from '../../../control-plane/foundation/platform/mail/mailer.ts'
import { startMailSink } from '../../../tools/mail/sink.ts'
import { CONTEXT, hostileEnvelope, sampleEnvelope } from '../../support/channel-events.ts'

const lines: string[] = []
const sink = await startMailSink(0, line => lines.push(line))
t.teardown(sink.stop)
const mailer = createMailer(sink.smtpUrl, 'Picket <picket@localhost>')
t.teardown(mailer.close)

async function send(envelope = sampleEnvelope('monitor.down')) {
  const { body } = email.render(envelope, { to: ['ops@example.com'] }, CONTEXT)
  const { message_id: messageId, ...content } = JSON.parse(body.toString('utf8')) as MailContent
  return mailer.send({ to: ['ops@example.com'], messageId, ...content }, 5_000)
}

const get = async (path: string) => {
  const answer = await fetch(sink.pageUrl + path)
  return {
    status: answer.status,
    policy: answer.headers.get('content-security-policy') ?? '',
    html: await answer.text(),
  }
}

t.test('Mail is printed in a line and shown on a page: a list, the mail, its HTML', async t => {
  t.match((await get('/')).html, 'No mail yet')
  const reply = 'shown on the mail page of this machine, whose address npm start has printed; it is not sent on'
  t.match(await send(), { code: 250, line: `250 ${reply}` })
  t.same(lines, ['  mail  Picket <picket@localhost> to ops@example.com: Shop is down'])
  t.match((await get('/')).html, /href="\/[0-9a-f]{32}\/mails\/1"[\s\S]*Shop is down[\s\S]*ops@example.com/)
  const reading = await get('/mails/1')
  t.match(reading.html, /<iframe [^>]*sandbox="allow-popups[^"]*" src="\/[0-9a-f]{32}\/mails\/1\/html">/)
  t.match(reading.html, /As plain text[\s\S]*The status is 503/)
  const { html, policy } = await get('/mails/1/html')
  t.match(html, /<h1 [^>]*>Shop is down<\/h1>/)
  t.match(policy, /^sandbox [^;]*; default-src 'none'/)
  for (const path of ['/mails/2', '/mails/0', '/mails/1/raw', '/x']) t.equal((await get(path)).status, 404, path)
})

t.test('Scripts in a mail are not executed', async t => {
  await send(hostileEnvelope('vendor.down', '</title><script>alert(1)</script>'))
  for (const path of ['/', '/mails/2', '/mails/2/html']) {
    const { html, policy } = await get(path)
    t.notMatch(html, '<script')
    t.match(policy, "default-src 'none'")
    t.notMatch(policy, 'script')
  }
})

t.test('The newest two hundred mails are kept', async t => {
  for (let i = 0; i < 201; i++) await send()
  t.equal((await get('/')).html.match(/href="\/[0-9a-f]{32}\/mails\//g)?.length, 200)
  t.equal((await get('/mails/1')).status, 404)
})
