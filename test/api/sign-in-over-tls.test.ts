import { request } from 'node:http'
import t from 'tap'
import { startApi } from '../support/api-server.ts'

type Got = { status: number; type: string; text: string }

/** Sends a request as browsers do without TLS: without Sec-Fetch headers. */
function ask(address: string, host: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> {
  const url = new URL(address)
  if (url.pathname === '/') url.pathname = '/sign-in'
  return new Promise((resolve, reject) => {
    const asking = request(url, { method, headers: { host, accept: 'text/html', ...headers } }, answer => {
      let text = ''
      answer.on('data', chunk => (text += chunk))
      answer.on('end', () => resolve({ status: answer.statusCode!, type: answer.headers['content-type']!, text }))
    })
    asking.on('error', reject).end()
  })
}

const PASSWORD_FIELD = /type="password"/

t.test(
  'The sign-in page requires https where browsers would drop the cookie, and shows the form elsewhere',
  async t => {
    const plain = await startApi(t, { PUBLIC_URL: 'http://picket.example' })
    const far = await ask(plain.origin, 'picket.example')
    t.match(far.text, /You can sign in over https/)
    t.notMatch(far.text, PASSWORD_FIELD)
    const { key } = await plain.tenant()
    const invited = await plain.call('POST', '/agent/invite', { key, body: { email: 'ann@example.com' } })
    const claim = plain.origin + new URL(invited.body.data.claim_url).pathname
    for (const method of ['GET', 'POST']) {
      const headers = { origin: 'http://picket.example' }
      t.match(
        await ask(claim, 'picket.example', headers, method),
        { status: 403, text: /You can sign in over https/ },
        method,
      )
    }
    t.match((await ask(claim, 'localhost')).text, PASSWORD_FIELD, 'the link is not used up')

    const secure = await startApi(t, { PUBLIC_URL: 'https://picket.example' })
    const proxied = { 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none' }
    t.match(
      (await ask(secure.origin, 'picket.example', proxied)).text,
      PASSWORD_FIELD,
      'a proxy in front terminates TLS',
    )

    const local = await startApi(t, { PUBLIC_URL: 'http://localhost:8080' })
    t.match((await ask(local.origin, 'localhost:8080')).text, PASSWORD_FIELD)

    const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
    const refused = await ask(local.origin, 'localhost:8080', foreign, 'POST')
    t.match(refused, { status: 403, type: /^text\/html/, text: /not sent from this site/ })
    const program = await ask(local.origin, 'localhost:8080', { ...foreign, accept: '*/*' }, 'POST')
    t.match(program, { status: 403, type: /^application\/json/ })
  },
)
