import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createClickhouse, select } from '../../control-plane/foundation/platform/clickhouse.ts'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createApi } from '../support/api.ts'
import { startChatProvider } from '../support/chat-provider.ts'
import { startPicket } from '../support/picket.ts'
import { startReceiver } from '../support/receiver.ts'
import { startTarget } from '../support/target.ts'
import { waitFor } from '../support/wait.ts'

// takes about 30 s

const trace = { LOG_LEVEL: 'trace' }
const chat = await startChatProvider(t)
const [picket, target, receiver] = await Promise.all([
  startPicket(t, { env: { ...trace, ...chat.env }, probeEnv: trace }),
  startTarget(t),
  startReceiver(t),
])
const { api } = picket
const db = createPostgres(picket.databaseUrl, 2)
t.teardown(() => db.destroy())

/** The secrets that must not appear anywhere, by kind. */
const secrets: Record<string, string> = {
  password: 'pa55-of-the-shop',
  token: 'bearer-of-the-shop',
  header: 'header-of-the-shop',
  'custom credential': 'custom-of-the-shop',
  'channel header': 'header-of-the-channel',
  'channel config': 'config-of-the-channel',
  'rotated credential': 'rotated-of-the-shop',
  'credential of a data source': 'credential-of-the-source',
  'header of a data source': 'header-of-the-source',
  'client secret of the chat app': chat.env.CHAT_CLIENT_SECRET!,
  'signing secret of the chat app': chat.env.CHAT_SIGNING_SECRET!,
  'first key': picket.apiKey,
  'probe token': picket.probes[0]!.token,
  'probe secret': JSON.parse(readFileSync(join(picket.probes[0]!.dataDir, 'credential.json'), 'utf8')).secret,
}

const monitor = (name: string, more: object) =>
  api.post('/monitors', { name, type: 'http', url: target.url, interval_seconds: 30, retry_count: 0, ...more })

/** Makes Picket use, refuse and fail with every secret. Returns all output. */
async function live(): Promise<unknown[]> {
  const headers = { Authorization: `Bearer ${secrets['channel header']}` }
  const config = { url: receiver.url, headers, api_token: secrets['channel config'] }
  const channel = await api.post('/alerts/channels', { name: 'Hook', type: 'webhook', config, is_default: true })
  const { id: channelId } = channel.body.data
  const rotated = await api.post(`/alerts/channels/${channelId}/rotate-secret`)
  secrets['signing secret'] = channel.body.data.signing_secret
  secrets['rotated signing secret'] = rotated.body.data.signing_secret
  const key = await api.post('/api-keys', { name: 'CI', scope: 'write' }, { 'idempotency-key': 'k' })
  secrets['second key'] = key.body.data.key

  target.behave({ kind: 'answer', status: 503 })
  const made = [
    await monitor('basic', { auth_type: 'basic', auth_config: { username: 'shop', password: secrets.password } }),
    await monitor('bearer', { auth_type: 'bearer', auth_config: { token: secrets.token } }),
    await monitor('header', { headers: { 'X-Api-Key': secrets.header } }),
    await monitor('own', { auth_type: 'header', auth_config: { name: 'X-Own', value: secrets['custom credential'] } }),
    await monitor('refused', { url: 'http://127.0.0.1:1', headers: { 'X-Api-Key': secrets.header } }),
  ]
  const ids = made.map(answer => answer.body.data.id)
  const auth = { auth_type: 'bearer', auth_config: { token: secrets['rotated credential'] } }
  const answers = [
    ...made,
    await api.put(`/monitors/${ids[1]}/auth`, auth),
    await monitor('wrong', { url: 'ftp://x', headers: { 'X-Api-Key': secrets.header } }),
    await monitor('wrong', { auth_type: 'bearer', auth_config: { token: [secrets.token] } }),
    await monitor('wrong', { auth_type: 'bearer', auth_config: { token: `${secrets.token}\r\n` } }),
    await api.put(`/monitors/${ids[0]}`, { headers: { Authorization: `${secrets.header}\r\n` } }),
    await api.post('/alerts/channels', { name: 'x', type: 'webhook', config: { ...config, url: 'http://10.0.0.1' } }),
    await api.get(`/monitors/${picket.apiKey}`, {}),
  ]
  for (const id of ids) answers.push(await api.post(`/monitors/${id}/check`))
  await receiver.waitFor(ids.length)
  answers.push(
    ...(await whileBroken(() => monitor('broken', { auth_type: 'bearer', auth_config: { token: secrets.token } }))),
  )
  answers.push(...(await watchSource()), ...(await installChat()))
  await invite()
  const lists = [
    '/monitors',
    '/data-sources',
    '/members',
    '/export',
    '/chat/installations',
    '/audit-log',
    '/alerts/channels',
    '/alerts/rules',
    '/alerts/log',
    '/incidents',
    '/api-keys',
    '/project',
  ]
  const each = ids.flatMap(id => [`/monitors/${id}`, `/monitors/${id}/checks`, `/monitors/${id}/transitions`])
  for (const path of [...lists, ...each, `/alerts/channels/${channelId}`]) answers.push(await api.get(path))
  return answers.map(({ body }) => body)
}

/** Creates a data source whose fetch fails, as any request with a secret may. */
async function watchSource() {
  const auth = { auth_type: 'bearer', auth_config: { token: secrets['credential of a data source'] } }
  const source = {
    name: 'Health',
    url: target.url,
    headers: { 'X-Api-Key': secrets['header of a data source'] },
    ...auth,
  }
  const made = await api.post('/data-sources', source)
  const path = `/data-sources/${made.body.data.id}`
  await waitFor(async () => (await api.get(path)).body.data.last_error)
  return [
    made,
    await api.post('/data-sources/preview', source),
    await api.post('/data-sources', { ...source, url: 'http://10.0.0.1/' }),
    await api.put(path, { auth_config: { token: `${secrets['credential of a data source']}\r\n` } }),
    await api.get(path),
  ]
}

/** Opens the claim link of an account, and one with a mistake. */
async function invite() {
  const { body } = await api.post('/agent/invite', { email: 'ann@example.com' })
  const { pathname } = new URL(body.data.claim_url)
  secrets['claim link'] = pathname.split('/').at(-1)!
  for (const path of [pathname, `${pathname}/x`, `${pathname}?a=b`]) await fetch(`${picket.origin}${path}`)
}

/** Installs the chat app, sends with it, loses its token and removes it, with a failing provider. */
async function installChat() {
  const answers = []
  for (const response of ['hang' as const, { ok: true, access_token: 'xoxb-of-the-liar' }, null]) {
    const begun = await api.get('/chat/oauth/install')
    const state = new URL(begun.headers.get('location')!).searchParams.get('state')!
    const code = chat.consent({ expiresIn: 3_600 })
    secrets[`code ${code} of the chat`] = code
    if (response) chat.next('oauth.v2.access', response)
    answers.push(
      await createApi(picket.origin, null).get(`/chat/oauth/callback?${new URLSearchParams({ code, state })}`),
    )
  }
  secrets['token of a liar'] = 'xoxb-of-the-liar'
  secrets['token of the chat'] = 'xoxb-'
  secrets['renewal of the chat'] = 'xoxe-1-'
  chat.next('chat.postMessage', { ok: false, error: 'token_expired' })
  const [{ id, default_channel_id }] = (await api.get('/chat/installations')).body.data
  answers.push(await api.post(`/alerts/channels/${default_channel_id}/test`))
  await waitFor(() => chat.calls('chat.postMessage').length > 1)
  answers.push(await api.get('/alerts/log'), await api.get('/alerts/channels'))
  chat.next('auth.revoke', 500)
  return [...answers, await api.delete(`/chat/installations/${id}`)]
}

/** Internal errors are logged in full and must not contain the values either. */
async function whileBroken<T extends { status: number }>(work: () => Promise<T>): Promise<T[]> {
  await db.raw("ALTER TABLE monitors ADD CONSTRAINT broken CHECK (name <> 'broken')")
  const answer = await work()
  await db.raw('ALTER TABLE monitors DROP CONSTRAINT broken')
  t.equal(answer.status, 500)
  return [answer]
}

/** Every row of every table, with raw bytes. */
async function rowsOfPostgres(): Promise<string[]> {
  const columns = await query<{ table: string; column: string; type: string }>(
    db,
    `SELECT table_name AS table, column_name AS column, data_type AS type FROM information_schema.columns
     WHERE table_schema = 'public'`,
  )
  const texts: string[] = []
  for (const { table, column, type } of columns) {
    const rows = await query<{ value: Buffer | string | null }>(
      db,
      type === 'bytea' ? 'SELECT ?? AS value FROM ??' : 'SELECT ??::text AS value FROM ??',
      [column, table] as never,
    )
    texts.push(...rows.map(({ value }) => (Buffer.isBuffer(value) ? value.toString('latin1') : (value ?? ''))))
  }
  return texts
}

async function rowsOfClickhouse(): Promise<unknown[]> {
  const clickhouse = createClickhouse(picket.clickhouseUrl)
  const rows = await waitFor(async () => {
    const found = await select(clickhouse, 'SELECT * FROM results')
    return found.length > 0 ? found : null
  })
  await clickhouse.close()
  return rows
}

t.test('No log, response, metric or table contains a stored secret', async t => {
  const places: Record<string, unknown> = { answers: await live() }
  const sent = receiver.received.map(({ headers }) => headers.authorization)
  t.ok(sent.includes(`Bearer ${secrets['channel header']}`), 'the receiver got its credential')
  places.metrics = await (await fetch(`${picket.operator}/metrics`)).text()
  places.postgres = await rowsOfPostgres()
  places.clickhouse = await rowsOfClickhouse()
  await picket.controlPlane.stop()
  places['log of the control plane'] = picket.controlPlane.lines
  places['log of the probe'] = picket.probes[0]!.lines
  for (const [place, content] of Object.entries(places)) {
    const text = typeof content === 'string' ? content : JSON.stringify(content)
    t.ok(text.length > 100, `${place}: ${text.length} characters`)
    for (const [what, secret] of Object.entries(secrets)) {
      const forms = [
        secret,
        Buffer.from(`shop:${secret}`).toString('base64'),
        secret.replace(/^whsec_|^svc_|^prb_|^prs_/, ''),
      ]
      const found = forms.map(form => text.indexOf(form)).find(at => at >= 0)
      t.equal(
        found,
        undefined,
        `${what} in ${place}: ${found === undefined ? 'no' : text.slice(Math.max(0, found - 80), found + 20)}`,
      )
    }
  }
})
