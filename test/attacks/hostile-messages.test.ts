import t from 'tap'
import { parse as parseYaml } from 'yaml'
import { createPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { confirmAddresses } from '../support/addresses.ts'
import type { Answer, RequestOptions } from '../support/api-server.ts'
import { markupInChatA, markupInChatB, markupInChatC } from '../support/chat-markup.ts'
import { createHostilePage } from '../support/hostile-scene.ts'
import { HOSTILE_TEXTS, isUnstorable } from '../support/hostile-texts.ts'
import { openHtmlParser } from '../support/html-parser.ts'
import { findMailProblems, readAllowedContent } from '../support/mail-checks.ts'
import { startPicket } from '../support/picket.ts'
import { type ReceivedRequest, startReceiver } from '../support/receiver.ts'
import { startSmtp } from '../support/smtp.ts'
import { waitFor } from '../support/wait.ts'

// takes about 25 s

// Hostile texts in the output of a running control plane: mails, webhooks, chats, files, metrics and logs.

const ORIGIN = 'https://picket.example.com'
const PLAIN = 'Plain words'
const smtp = await startSmtp(t)
const receiver = await startReceiver(t)
const picket = await startPicket(t, {
  regions: [],
  env: { PUBLIC_URL: ORIGIN, SMTP_URL: smtp.url, MAIL_FROM: 'picket@example.com', LOG_LEVEL: 'trace' },
})
const db = createPostgres(picket.databaseUrl, 2)
t.teardown(() => db.destroy())
await confirmAddresses(db, picket.organizationId, 'ops@example.com')
const parser = await openHtmlParser(t)
const api = {
  async call(method: string, path: string, sent: RequestOptions = {}): Promise<Answer> {
    const answer = await fetch(`${picket.origin}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${picket.apiKey}`, 'content-type': 'application/json' },
      ...(sent.body !== undefined && { body: JSON.stringify(sent.body) }),
    })
    return { status: answer.status, headers: answer.headers, body: await answer.json() }
  },
}
const add = async (path: string, body: object): Promise<string> => {
  const answer = await api.call('POST', path, { body })
  if (answer.status !== 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
  return answer.body.data.id
}

const to = (kind: string) => new URL(`/${kind}`, receiver.url).href
const CHANNELS: [type: string, config: object][] = [
  ['webhook', { url: to('webhook') }],
  ['chat_a', { webhook_url: to('chat_a') }],
  ['chat_b', { webhook_url: to('chat_b') }],
  ['chat_c', { webhook_url: to('chat_c') }],
  ['email', { to: ['ops@example.com'] }],
]
// one message for each event, no digests
await api.call('PUT', '/alerts/settings', { body: { is_digest_enabled: false } })
const channelIds: string[] = []
for (const [type, config] of CHANNELS) {
  const id = await add('/alerts/channels', { name: 'Plain', type, config })
  channelIds.push(id)
  await add('/alerts/project-channels', { alert_channel_id: id, alert_type: 'incident' })
}

/** The messages of one scene to each channel: two incidents with an update each; one update resolves its incident. */
const OF_SCENE = 4
/** A failing heartbeat: the monitor is down, and the verdict opens an incident. */
const OF_HEARTBEAT = 2
const PER_TEXT = OF_SCENE + OF_HEARTBEAT

async function runScene(text: string): Promise<void> {
  await createHostilePage(api, picket.apiKey, text)
  const name = /[\r\n\0]/.test(text) ? PLAIN : text
  const made = await api.call('POST', '/monitors', { body: { name, type: 'heartbeat', heartbeat_interval: 3_600 } })
  const monitor = made.body.data
  for (const id of channelIds) await add('/alerts/rules', { monitor_id: monitor.id, alert_channel_id: id })
  const ping = `${picket.origin}${new URL(monitor.ping_url).pathname}/fail`
  const answer = await fetch(ping, { method: 'POST', body: text })
  if (answer.status !== 200) throw new Error(`a ping answered ${answer.status}`)
}

const texts = Object.entries(HOSTILE_TEXTS).filter(([, text]) => !isUnstorable(text))
const received = (kind: string): ReceivedRequest[] => receiver.received.filter(({ path }) => path === `/${kind}`)

await runScene(PLAIN)
const [plainHooks, plainMails] = await waitFor(
  () =>
    received('webhook').length >= PER_TEXT && smtp.mails.length >= PER_TEXT
      ? [received('webhook'), [...smtp.mails]]
      : null,
  {
    label: () => `messages of harmless words: ${receiver.received.map(({ path }) => path)}, ${smtp.mails.length} mails`,
  },
)
const knownMail = await readAllowedContent(plainMails as never, parser)
// texts of several lines
knownMail.elements.add('br')
for (const [, text] of texts) await runScene(text)
const all = (texts.length + 1) * PER_TEXT
await waitFor(
  () =>
    smtp.mails.length >= all && ['webhook', 'chat_a', 'chat_b', 'chat_c'].every(kind => received(kind).length >= all),
  { label: () => `all messages: ${smtp.mails.length} mails, ${receiver.received.length} posts of ${all} each` },
)

t.test('A webhook contains each text unchanged, only in the body', t => {
  const known = new Set((plainHooks as ReceivedRequest[]).flatMap(({ headers }) => Object.keys(headers)))
  const titles = new Set<string>()
  const messages = new Set<string>()
  for (const { headers, json } of received('webhook')) {
    t.same(
      Object.keys(headers).filter(name => !known.has(name)),
      [],
    )
    titles.add(json.data.incident?.title ?? '')
    messages.add(json.data.update?.message ?? '')
  }
  for (const [what, text] of texts) {
    t.ok(messages.has(text), `${what} as a message`)
    if (!/[\r\n]/.test(text)) t.ok(titles.has(text), `${what} as a title`)
  }
  t.end()
})

t.test('No chat message contains markup, mentions or links from a text', t => {
  const checks = { chat_a: markupInChatA, chat_b: markupInChatB, chat_c: markupInChatC }
  for (const [kind, markup] of Object.entries(checks)) {
    for (const { json, rawBody } of received(kind)) t.same(markup(json), [], `${kind} ${rawBody.slice(0, 200)}`)
  }
  t.end()
})

t.test('A mail has the usual headers, and no markup, link or hidden character of a text', async t => {
  for (const mail of smtp.mails) {
    t.same(await findMailProblems(mail, knownMail, parser, ORIGIN), [], mail.headers.subject ?? 'no subject')
    t.same(mail.to, ['ops@example.com'])
  }
})

t.test('Exports as YAML and JSON contain the same texts and can be imported again', async t => {
  const headers = { authorization: `Bearer ${picket.apiKey}` }
  const read = async (format: string) =>
    (await fetch(`${picket.origin}/api/v1/export?format=${format}`, { headers })).text()
  const [yaml, json] = [await read('yaml'), await read('json')]
  const file = JSON.parse(json)
  t.same(parseYaml(yaml), file)
  const names = new Set(file.monitors.map(({ name }: { name: string }) => name))
  for (const [what, text] of texts) if (!/[\r\n]/.test(text)) t.ok(names.has(text), what)
  for (const [type, body] of [
    ['application/yaml', yaml],
    ['application/json', json],
  ] as const) {
    const plan = await fetch(`${picket.origin}/api/v1/import?dry_run=true`, {
      method: 'POST',
      headers: { ...headers, 'content-type': type },
      body,
    })
    const answer = (await plan.json()) as { data: { create: number; update: number } }
    t.match(answer, { data: { create: 0, update: 0 } }, `${type}: ${JSON.stringify(answer).slice(0, 500)}`)
  }
})

t.test('Metrics are valid and contain no text of a tenant', async t => {
  const text = await (await fetch(`${picket.operator}/metrics`)).text()
  const line = /^(#.*|[a-zA-Z_:][a-zA-Z0-9_:]*(\{([a-zA-Z_]\w*="(\\[\\"n]|[^"\\\n])*",?)*\})? \S+( \d+)?|)$/
  t.same(
    text.split('\n').filter(one => !line.test(one)),
    [],
  )
  t.notMatch(text, /broken.out|evil|DROP TABLE/)
})

t.test('Each line of the log is one JSON document', t => {
  const { lines } = picket.controlPlane
  t.ok(lines.length > 10, `${lines.length} lines`)
  t.same(
    lines.filter(line => 'text' in line || line.msg === 'broken-out'),
    [],
  )
  t.end()
})

t.test('The audit log returns each text unchanged', async t => {
  const names = new Set<string>()
  for (let page = 1; ; page++) {
    const { body } = await api.call('GET', `/audit-log?per_page=100&page=${page}`)
    for (const entry of body.data) names.add(entry.resource_name)
    if (page >= body.meta.total_pages) break
  }
  for (const [what, text] of texts) if (!/[\r\n]/.test(text)) t.ok(names.has(text), what)
})

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this is about
const STEERS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/

t.test('No text moves the cursor or ends a line in the operator’s command line', async t => {
  const name = HOSTILE_TEXTS['control characters']!
  await api.call('POST', '/api-keys', { body: { name, scope: 'read' } })
  await db.raw('UPDATE organizations SET name = ?', [name])
  const listed = await picket.admin('organization', 'list')
  t.notMatch(listed, STEERS)
  t.match(listed, 'u{1b}')
  const shown = await picket.admin('organization', 'show', picket.organizationId)
  t.notMatch(shown, STEERS)
  t.equal(JSON.parse(shown).name, name)
})
