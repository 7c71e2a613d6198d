import t from 'tap'
import { normalizeHost } from '../../shared/egress/guard/host.ts'
import { startApi } from '../support/api-server.ts'
import { rawAsk } from '../support/raw-ask.ts'
import { shortestMs } from '../support/shortest.ts'

/** As behind the proxy of deploy/, with one additional name. */
const api = await startApi(t, {
  HOST: '0.0.0.0',
  PUBLIC_URL: 'https://picket.example',
  CUSTOM_DOMAIN_TARGET: 'pages.picket.example',
  ALLOWED_HOSTS: 'inside.example, 192.0.2.7, 2001:db8::7',
  TRUST_PAGE: 'on',
})

const ask = (host: string, path: string, headers: Record<string, string> = {}, origin = api.origin) =>
  rawAsk(origin, path, { headers: { host, ...headers } })

const OWN = [
  'picket.example',
  'PICKET.example.',
  'picket.example:8443',
  'pages.picket.example',
  'inside.example',
  '192.0.2.7:80',
  '[2001:db8::7]:80',
]
const INSIDE = ['localhost:5555', '127.0.0.1:8080', '10.0.0.9:8080', '[fd00::9]:8080', 'control-plane-1:8080']
const FOREIGN = ['attacker.example', 'picket.example.attacker.example', 'xpicket.example', 'a@b', '']

t.test('The API and its pages accept only hosts of the installation', async t => {
  const headers = { authorization: `Bearer ${(await api.tenant()).key}` }
  for (const host of OWN) {
    t.equal((await ask(host, '/api/v1/monitors', headers)).status, 200, host)
    t.equal((await ask(host, '/openapi.json')).status, 200, host)
  }
  for (const host of [...INSIDE, ...FOREIGN]) {
    for (const path of [
      '/api/v1/monitors',
      '/openapi.json',
      '/docs',
      '/sign-in',
      '/trust',
      '/wall/x',
      '/status/acme',
    ]) {
      const { status, body } = await ask(host, path, headers)
      t.equal(status, 421, `${host} ${path}`)
      t.match(JSON.parse(body), {
        error: { code: 'misdirected_request', status: 421, message: /https:\/\/picket.example/ },
      })
    }
  }
  const forwarded = { ...headers, 'x-forwarded-host': 'picket.example' }
  t.equal((await ask('attacker.example', '/api/v1/monitors', forwarded)).status, 421, 'a header that a page can set')
})

t.test('Operator endpoints accept addresses and refuse foreign names', async t => {
  const inside = ['/readyz', '/metrics', '/internal/health']
  const askOperator = (host: string, path: string) => ask(host, path, {}, api.operator)
  for (const host of [...OWN, ...INSIDE]) {
    for (const path of inside) t.not((await askOperator(host, path)).status, 421, `${host} ${path}`)
    t.equal((await askOperator(host, '/internal/tls-check?domain=x.example')).status, 404, host)
  }
  for (const path of [...inside, '/internal/tls-check?domain=picket.example']) {
    t.equal((await askOperator('attacker.example', path)).status, 421, path)
  }
})

t.test('Liveness, ping URLs, canaries and custom domains accept any host', async t => {
  for (const host of [...OWN, ...INSIDE, ...FOREIGN]) t.equal((await ask(host, '/healthz')).status, 200, host)
  for (const path of [`/ping/${'x'.repeat(43)}`, '/canary/eu-west?key=x', '/nowhere', '/']) {
    t.equal((await ask('status.customer.example', path)).status, 404, path)
  }
})

t.test('A Host header of 15,000 characters costs no more time than a valid one', async t => {
  const asking = (length: number) =>
    shortestMs(() => {
      for (let n = 0; n < 50; n++) normalizeHost(`${'é'.repeat(length)}${n}`)
    })
  const [long, short] = [asking(15_000), asking(250)]
  t.ok(long < short, `${long.toFixed(2)} ms, ${short.toFixed(2)} ms`)
  t.equal((await ask(`${'é'.repeat(15_000)}.example`, '/docs')).status, 421)
  t.equal(normalizeHost(`${'%61'.repeat(63)}.example`), `${'a'.repeat(63)}.example`, 'a name in a long spelling')
})

t.test('An invalid host in ALLOWED_HOSTS is refused at start', async t => {
  await t.rejects(startApi(t, { ALLOWED_HOSTS: 'https://picket.example' }), /^ALLOWED_HOSTS contains "https:/)
})
