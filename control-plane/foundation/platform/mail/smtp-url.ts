/** The operator's mail server, from SMTP_URL. */
export type SmtpServer = {
  host: string
  port: number
  /** TLS from the first byte; otherwise the connection is upgraded when the server offers it */
  isTls: boolean
  auth: { user: string; pass: string } | null
  /** true: TLS is required; false: TLS is not used; null: TLS is used if the server offers it */
  requireTls: boolean | null
  verifyCertificate: boolean
}

/**
 * Reads `smtp://user:password@host:587` or `smtps://host`, with nodemailer's `requireTLS=true`, `ignoreTLS=true` and
 * `tls.rejectUnauthorized=false` as query parameters. Null when the text is not valid.
 */
export function parseSmtpUrl(text: string): SmtpServer | null {
  if (!/^smtps?:\/\/[^/]/i.test(text) || !URL.canParse(text)) return null
  const url = new URL(text)
  const options = [...url.searchParams].map(([name, value]) => `${name}=${value}`)
  if (url.hostname === '' || !options.every(option => OPTIONS.includes(option))) return null
  const isTls = url.protocol === 'smtps:'
  const fallbackPort = isTls ? 465 : 587
  const auth = parseCredentials(url)
  if (auth === undefined) return null
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? fallbackPort : Number(url.port),
    isTls,
    auth,
    requireTls: options.includes('requireTLS=true') ? true : options.includes('ignoreTLS=true') ? false : null,
    verifyCertificate: !options.includes('tls.rejectUnauthorized=false'),
  }
}

const OPTIONS = ['requireTLS=true', 'ignoreTLS=true', 'tls.rejectUnauthorized=false']

/** Null without credentials, undefined when they are not percent-encoded correctly. */
function parseCredentials({ username, password }: URL): SmtpServer['auth'] | undefined {
  if (username === '') return null
  try {
    return { user: decodeURIComponent(username), pass: decodeURIComponent(password) }
  } catch {
    return undefined
  }
}
