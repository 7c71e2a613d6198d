import { createInterface } from 'node:readline'
import t from 'tap'
import { createMailer, type Mail } from '../../control-plane/foundation/platform/mail/mailer.ts'
import { createAuthority } from '../support/certificates.ts'
import { startRawServer } from '../support/raw-server.ts'
import { startSmtp } from '../support/smtp.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'

/** Never reached here, also on a busy machine. */
const TIMEOUT_MS = 120_000
const FROM = 'Picket <picket@example.com>'
const mail: Mail = {
  to: ['ops@example.com', 'on-call@example.com'],
  subject: 'Zürich 東京 is down '.repeat(6).trim(),
  messageId: '<whd_1@picket.example.com>',
  references: ['<incident.1@picket.example.com>'],
  date: '2026-08-01T12:00:00.000Z',
  text: 'Shop is down\n\n.\nFrom here – to there: ü\n',
  html: '<p>Shop is <b>down</b>: ü = 100 %</p>',
}

function startMailer(t: Teardown, url: string) {
  const mailer = createMailer(url, FROM)
  t.teardown(mailer.close)
  return mailer
}

t.test('A mail arrives with both parts, its sender, its recipients and its references', async t => {
  const server = await startSmtp(t)
  const mailer = startMailer(t, server.url)
  const answer = await mailer.send(mail, TIMEOUT_MS)
  t.match(answer, { code: 250, line: /^250 /, error: null })
  const [taken] = server.mails
  t.match(taken, { from: 'picket@example.com', to: mail.to, text: mail.text, isTls: false })
  t.equal(taken?.html?.trim(), mail.html)
  t.match(taken?.headers, {
    from: FROM,
    to: mail.to.join(', '),
    subject: mail.subject,
    'message-id': mail.messageId,
    'in-reply-to': mail.references[0],
    references: mail.references[0],
    date: 'Sat, 01 Aug 2026 12:00:00 +0000',
    'auto-submitted': 'auto-generated',
  })
  await mailer.send(mail, TIMEOUT_MS)
  t.equal(server.mails[1]?.raw, taken?.raw, 'the same mail makes the same bytes')
  t.equal(server.connections(), 1, 'over the same connection')
})

t.test('The reply of a mail server is returned with its code and line', async t => {
  const server = await startSmtp(t)
  const mailer = startMailer(t, server.url)
  server.replyWith('451 4.3.0 Try again later', '554 5.7.1 Spam')
  t.match(await mailer.send(mail, TIMEOUT_MS), {
    code: 451,
    line: /^451 4.3.0 Try again later/,
    error: /deferred the mail/,
  })
  t.match(await mailer.send(mail, TIMEOUT_MS), { code: 554, line: /^554 5.7.1 Spam/, error: /refused the mail/ })
  t.match(await mailer.send({ ...mail, to: ['unknown@example.com'] }, TIMEOUT_MS), { code: 550, line: /No such user/ })
  const partly = await mailer.send({ ...mail, to: ['ops@example.com', 'unknown@example.com'] }, TIMEOUT_MS)
  t.match(partly, { code: 250, error: /rejected for unknown@example.com .*550/ })
  t.match(server.mails, [{ to: ['ops@example.com'] }])
})

t.test('A refusal before a recipient is named is a fault of the mail server, a later one is not', async t => {
  /** A server that replies to one command with a line, and to the others with success. */
  const startRefusing = async (refused: string, line: string) => {
    const port = await startRawServer(t, socket => {
      const reply = (command: string, usual: string) => {
        if (socket.writableEnded) return
        socket.write(`${command === refused ? line : usual}\r\n`)
        if (command === refused && line.startsWith('421')) socket.end()
      }
      reply('greeting', '220 hello')
      let isBody = false
      createInterface(socket).on('line', text => {
        if (isBody && text !== '.') return
        const command = text.split(':')[0]!
        isBody = command === 'DATA'
        reply(command, isBody ? '354 go on' : '250 done')
      })
    })
    return `smtp://127.0.0.1:${port}`
  }
  const rows: [refused: string, line: string, isServerFault: true | undefined, error: RegExp][] = [
    ['greeting', '421 4.3.2 Too many connections', true, /deferred the connection/],
    ['greeting', '554 5.7.1 Your address is on a list', true, /refused the connection/],
    ['MAIL FROM', '421 4.4.2 Shutting down', true, /./],
    ['MAIL FROM', '452 4.3.1 Disk full', true, /deferred the sender of MAIL_FROM/],
    ['MAIL FROM', '550 5.7.1 Sender not allowed', true, /refused the sender of MAIL_FROM/],
    ['RCPT TO', '421 4.3.2 Shutting down', true, /./],
    ['RCPT TO', '450 4.2.0 Greylisted', undefined, /deferred the mail/],
    ['RCPT TO', '550 5.1.1 No such user', undefined, /refused the mail/],
    ['.', '421 4.3.2 Shutting down', true, /./],
    ['.', '451 4.3.0 Try later', undefined, /deferred the mail/],
    ['.', '554 5.7.1 Spam', undefined, /refused the mail/],
  ]
  for (const [refused, line, isServerFault, error] of rows) {
    const result = await startMailer(t, await startRefusing(refused, line)).send(mail, TIMEOUT_MS)
    t.match(
      result,
      { code: Number(line.slice(0, 3)), line: new RegExp(`^${line.slice(0, 9)}`), error },
      `${refused}: ${line}`,
    )
    t.equal(result?.isServerFault, isServerFault, `${refused}: ${line}`)
  }
})

t.test('A mail server that is silent, disconnects or is unreachable fails in time', async t => {
  const hanging = await startRawServer(t, () => {})
  const closing = await startRawServer(t, socket => void socket.end('220 hello\r\n'))
  const halfway = await startRawServer(t, socket => {
    socket.write('220 hello\r\n')
    socket.on('data', chunk => (chunk.toString().startsWith('EHLO') ? socket.write('250 hello\r\n') : socket.destroy()))
  })
  const silent = await startRawServer(t, socket => {
    socket.write('220 hello\r\n')
    socket.on('data', chunk => void (chunk.toString().startsWith('EHLO') && socket.write('250 hello\r\n')))
  })
  const rows: [port: number, timeoutMs: number, error: RegExp][] = [
    [hanging, 500, /timed out/],
    [silent, 500, /timed out/],
    [closing, TIMEOUT_MS, /no connection to the mail server: .*closed/i],
    [halfway, TIMEOUT_MS, /no connection to the mail server: .*closed/i],
    [1, TIMEOUT_MS, /refused the connection/],
  ]
  await Promise.all(
    rows.map(async ([port, timeoutMs, error]) => {
      const answer = (await startMailer(t, `smtp://127.0.0.1:${port}`).send(mail, timeoutMs))!
      t.match(answer, { code: null, line: null, error })
      t.ok(answer.durationMs >= (error.test('timed out') ? timeoutMs : 0), `${answer.durationMs} ms`)
    }),
  )
})

t.test('A connection that the mail server closed loses no mail', async t => {
  const server = await startSmtp(t)
  const mailer = startMailer(t, server.url)
  t.match(await mailer.send(mail, TIMEOUT_MS), { code: 250 })
  await server.hangUp()
  t.match(await mailer.send(mail, TIMEOUT_MS), { code: 250 })
  t.equal(server.mails.length, 2)
})

t.test('Many concurrent mails share ten connections', async t => {
  const server = await startSmtp(t)
  const mailer = startMailer(t, server.url)
  // 50 at a time, because on a busy machine the last of 200 would wait longer for a connection than a mail may
  for (let wave = 0; wave < 4; wave++) {
    const answers = await Promise.all(Array.from({ length: 50 }, () => mailer.send(mail, TIMEOUT_MS)))
    t.same(
      answers.filter(answer => answer?.code !== 250),
      [],
    )
  }
  t.equal(server.mails.length, 200)
  t.ok(server.connections() <= 10, `${server.connections()} connections`)
})

t.test('A mail that finds no free connection in time is not sent, and can be sent later', async t => {
  const server = await startSmtp(t)
  const mailer = createMailer(server.url, FROM, 50)
  t.teardown(mailer.close)
  server.replyWith(...new Array<string>(10).fill('hang'))
  const hanging = Array.from({ length: 10 }, () => mailer.send(mail, TIMEOUT_MS))
  await server.waitFor(10)
  t.equal(await mailer.send({ ...mail, messageId: '<eleventh@picket.example.com>' }, TIMEOUT_MS), null)
  await server.hangUp()
  t.match(await Promise.all(hanging), new Array(10).fill({ code: null, error: /./ }))
  t.match(await mailer.send({ ...mail, messageId: '<eleventh@picket.example.com>' }, TIMEOUT_MS), { code: 250 })
  t.equal(server.mails.filter(({ raw }) => raw.includes('eleventh@')).length, 1)
})

t.test('Connections on which the mail server leaves QUIT unanswered delay no mail', async t => {
  let [connections, unanswered] = [0, 0]
  const port = await startRawServer(t, socket => {
    const isSilent = ++connections <= 10
    let isBody = false
    socket.write('220 hello\r\n')
    createInterface(socket).on('line', line => {
      const command = line.slice(0, 4)
      if (isBody && line !== '.') return
      if (command === 'QUIT' && isSilent) return void unanswered++
      isBody = command === 'DATA'
      socket.write(isBody ? '354 go on\r\n' : '250 done\r\n')
    })
  })
  const mailer = startMailer(t, `smtp://127.0.0.1:${port}`)
  const answers = await Promise.all(Array.from({ length: 10 }, () => mailer.send(mail, TIMEOUT_MS)))
  t.ok(answers.every(answer => answer?.code === 250))
  await waitFor(() => unanswered === 10, { label: 'idle connections are closed' })
  t.match(await mailer.send(mail, TIMEOUT_MS), { code: 250 })
  t.equal(connections, 11)
})

t.test('The password is sent over TLS, and an untrusted certificate is refused', async t => {
  const { key, cert } = createAuthority(t).selfSigned('localhost')
  const onAuth = ({ username, password }: { username?: string; password?: string }, _: unknown, done: Done) =>
    password === 'p@ss/word' ? done(null, { user: username ?? '' }) : done(new Error('Wrong password'))
  const tls = { key, cert, authOptional: false, onAuth: onAuth as never }
  const upgrading = await startSmtp(t, { ...tls, disabledCommands: [] })
  const secure = await startSmtp(t, { ...tls, secure: true })
  const at = (scheme: string, port: number, pass: string, more = '?tls.rejectUnauthorized=false') =>
    startMailer(t, `${scheme}://me:${encodeURIComponent(pass)}@localhost:${port}${more}`).send(mail, TIMEOUT_MS)
  t.match(await at('smtp', upgrading.port, 'p@ss/word'), { code: 250 })
  t.match(await at('smtps', secure.port, 'p@ss/word'), { code: 250 })
  t.match(
    [upgrading.mails[0], secure.mails[0]],
    [
      { user: 'me', isTls: true },
      { user: 'me', isTls: true },
    ],
  )
  const wrong = await at('smtps', secure.port, 'wrong')
  t.match(wrong, { code: null, line: /^535 /, error: 'the mail server refused the user or password of SMTP_URL' })
  t.notMatch(JSON.stringify(wrong), 'wrong@')
  t.match(await at('smtps', secure.port, 'p@ss/word', ''), { code: null, error: /self-signed/ })
  t.match(await at('smtp', upgrading.port, 'p@ss/word', ''), { code: null, error: /self-signed/ })
  const plain = await startSmtp(t)
  t.match(await startMailer(t, `${plain.url}?requireTLS=true`).send(mail, TIMEOUT_MS), { code: /^5/, error: /./ })
})

type Done = (error: Error | null, response?: { user: string }) => void
