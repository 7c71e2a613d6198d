import type { IncomingMessage, ServerResponse } from 'node:http'
import { equalSecrets } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import type { StoredMail } from './stored-mail.ts'
import { STYLE } from './style.ts'

/** No scripts and no external content, because these pages show untrusted mail. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; frame-src 'self'; base-uri 'none'; form-action 'none'"
const MAIL_POLICY =
  "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"

/** The port of the page, and the secret that its paths begin with. */
type MailPageAddress = { port: number; secret: string }

/**
 * Serves below `/<secret>`: the list, a mail at `/mails/<number>` and its HTML at `/mails/<number>/html`. Mail can contain
 * sign-in links, so requests without the secret, with another host name or from another site's page are refused.
 */
export function answerMailPage(
  request: IncomingMessage,
  response: ServerResponse,
  mails: StoredMail[],
  { port, secret }: MailPageAddress,
): void {
  const send = (status: number, html: string, policy = PAGE_POLICY) =>
    response
      .writeHead(status, {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policy,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
      })
      .end(html)
  const hosts = [`localhost:${port}`, `127.0.0.1:${port}`]
  if (!hosts.includes(request.headers.host ?? '') || request.headers.origin !== undefined) return void send(403, '')
  const [, given = '', path = '/'] = /^\/([\w-]*)(\/[^?]*)?/.exec(request.url ?? '/') ?? []
  if (!equalSecrets(given, secret)) return void send(403, page('Not found', NO_SECRET))
  const base = `/${secret}`
  if (path === '/') return void send(200, listPage(mails, base))
  const [, number, html] = /^\/mails\/(\d+)(\/html)?$/.exec(path) ?? []
  const mail = mails.find(one => one.number === Number(number))
  if (!mail)
    return void send(
      404,
      page('Not found', `<p class="none">This mail does not exist. <a href="${base}">All mail</a></p>`),
    )
  // links open in a new tab instead of the frame
  if (html) return void send(200, `<base target="_blank">${mail.html ?? ''}`, MAIL_POLICY)
  send(200, mailPage(mail, base))
}

const NO_SECRET = '<p class="none">Open the address that npm start printed.</p>'

function listPage(mails: StoredMail[], base: string): string {
  const rows = mails.map(
    ({ number, headers, receivedAt }) => `<li><a href="${base}/mails/${number}">
<span class="subject">${escaped(headers.subject ?? '')}</span>
<span class="to">${escaped(headers.to ?? '')}</span>
<time>${formatTime(receivedAt)}</time>
</a></li>`,
  )
  const list =
    rows.length === 0
      ? '<p class="none">No mail yet. Alerts of channels of type <code>email</code> appear here.</p>'
      : `<ul>${rows.join('\n')}</ul>`
  return page('Mail', `<h1>Mail <small>${mails.length === 0 ? '' : mails.length}</small></h1>\n${list}`, REFRESH)
}

/** Reloads the list without a script. */
const REFRESH = '<meta http-equiv="refresh" content="5">'

function mailPage({ number, headers, text, html }: StoredMail, base: string): string {
  const lines = (['from', 'to', 'date'] as const).map(
    name => `<dt>${name[0]?.toUpperCase()}${name.slice(1)}</dt><dd>${escaped(headers[name] ?? '')}</dd>`,
  )
  const subject = headers.subject ?? ''
  return page(
    subject,
    `<p><a href="${base}">← All mail</a></p>
<h1>${escaped(subject)}</h1>
<dl>${lines.join('\n')}</dl>
${html === null ? '' : `<iframe title="The mail as HTML" sandbox="allow-popups allow-popups-to-escape-sandbox" src="${base}/mails/${number}/html"></iframe>`}
${text === null ? '' : `<h2>As plain text</h2>\n<pre>${escaped(text)}</pre>`}`,
  )
}

function page(title: string, content: string, head = ''): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
${head}
<title>${escaped(title)} · Picket’s mail on this machine</title>
<style>${STYLE}</style>
</head>
<body>
<header>Picket <span>mail on this machine, not sent</span></header>
<main>
${content}
</main>
</body>
</html>
`
}

const formatTime = (date: Date) => `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escaped = (text: string) => text.replace(/[&<>"']/g, sign => ENTITIES[sign] ?? '')
