import t from 'tap'
import { parseSmtpUrl, type SmtpServer } from '../../../../control-plane/foundation/platform/mail/smtp-url.ts'

const plain: SmtpServer = {
  host: 'mail.example.com',
  port: 587,
  isTls: false,
  auth: null,
  requireTls: null,
  verifyCertificate: true,
}

const URLS: [string, SmtpServer | null][] = [
  ['smtp://mail.example.com', plain],
  ['smtp://mail.example.com:25', { ...plain, port: 25 }],
  ['smtps://mail.example.com', { ...plain, port: 465, isTls: true }],
  ['smtp://me:p%40ss%2Fword@mail.example.com', { ...plain, auth: { user: 'me', pass: 'p@ss/word' } }],
  ['smtp://me%40example.com:x@mail.example.com', { ...plain, auth: { user: 'me@example.com', pass: 'x' } }],
  ['smtp://[::1]:2525', { ...plain, host: '::1', port: 2525 }],
  ['smtp://mail.example.com?requireTLS=true', { ...plain, requireTls: true }],
  ['smtp://mail.example.com?ignoreTLS=true', { ...plain, requireTls: false }],
  [
    'smtps://mail.example.com/?tls.rejectUnauthorized=false',
    { ...plain, port: 465, isTls: true, verifyCertificate: false },
  ],
  ['smtp://me:100%@mail.example.com', null],
  ['smtp://mail.example.com?pool=true', null],
  ['http://mail.example.com', null],
  ['mail.example.com:25', null],
  ['smtp:mail.example.com', null],
  ['smtp://', null],
]

for (const [text, expected] of URLS) {
  t.test(`${text} is ${expected === null ? 'not a mail server' : 'a mail server'}`, async t =>
    t.same(parseSmtpUrl(text), expected),
  )
}
