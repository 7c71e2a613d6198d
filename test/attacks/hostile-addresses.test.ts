import t from 'tap'
import { parseAddress } from '../../control-plane/pages/subscribers/address.ts'
import { createEgress } from '../../shared/egress/index.ts'
import { type Answer, startApi } from '../support/api-server.ts'
import { buildBody } from '../support/bodies.ts'
import { forEachRow } from '../support/for-each-row.ts'
import { INNER_LITERALS, NO_WEB_ADDRESSES, startForbiddenPlace } from '../support/hostile-addresses.ts'
import { type Operation, readOperations } from '../support/operations.ts'
import { buildAddress, createRecords } from '../support/records.ts'
import { readTables } from '../support/stored.ts'
import { listTextFields, type Place, toPlaceName, withTextAt } from '../support/text-fields.ts'

// takes about 30 s

// Every field of the OpenAPI document that holds an address × spellings of inner addresses, with the guard of production.

const limits = { RATE_LIMIT_PER_MINUTE: '1000000', RATE_LIMIT_PER_PROJECT: '1000000', TESTS_PER_MINUTE: '1000000' }
const api = await startApi(t, { ...limits, EGRESS_ALLOW: '', VISITOR_EGRESS_ALLOW: '' })
const { operations } = await readOperations(api)
const tenant = await api.tenant('business')
const records = await createRecords(api, tenant)
const forbidden = await startForbiddenPlace(t)
const { port } = forbidden
const CONCURRENCY = 6

/** Names of fields that contain addresses. */
const IS_ADDRESS = /(^|[._])(url|uri|href|link|host|hostname|domain|server|address|endpoint|origin|webhook|target|ip)$/i

/** The kind of value of each field. A new field needs a line. */
const KINDS: Record<string, 'a web address' | 'a name' | 'no address'> = {
  url: 'a web address',
  webhook_url: 'a web address',
  status_url: 'a web address',
  feed_url: 'a web address',
  logo_url: 'a web address',
  favicon_url: 'a web address',
  // resolved, and connected to for its certificate
  domain: 'a name',
  // a path in the feed
  'feed_mapping.url': 'no address',
}

const chat = (type: string) => ({ name: 'Chat', type, config: { webhook_url: 'https://chat.example.com/x' } })
const bare = (type: string) => ({ name: 'Shop', type, url: 'shop.example.com:443' })

type Field = { operation: Operation; body: Record<string, unknown>; place: Place }

/** Bodies of other shapes than the full one. */
const VARIANTS: Record<string, Record<string, unknown>[]> = {
  'POST /alerts/channels': ['chat_a', 'chat_b', 'chat_c'].map(chat),
  'POST /monitors': [{ name: 'Shop', type: 'keyword', url: 'https://shop.example.com/', keyword: 'ok' }],
}

const fields = operations
  .filter(({ body }) => body !== null)
  .flatMap(operation =>
    [buildBody(operation, records), ...(VARIANTS[operation.name] ?? [])].flatMap(body =>
      listTextFields(operation.body, body)
        .filter(place => IS_ADDRESS.test(toPlaceName(place)))
        .map((place): Field => ({ operation, body, place })),
    ),
  )

const getKind = ({ place }: Field) => KINDS[place.slice(-2).join('.')] ?? KINDS[String(place.at(-1))]

async function send({ operation, body, place }: Field, text: string): Promise<Answer> {
  const isFile = operation.path === '/import'
  const whole = withTextAt(body, place, text)
  const sent = isFile ? { version: whole.version, [place[0]!]: whole[place[0]!] } : whole
  const address = buildAddress(operation, records) + (isFile ? '?dry_run=false' : '')
  return api.call(operation.method, address, { key: tenant.key, body: sent })
}

/** Returns null when the text was refused with the name of the field. */
function complaintAbout({ status, body }: Answer, { place }: Field): string | null {
  // the bulk operation answers by item
  if (status === 201 && body.monitors?.length === 0 && /url|blocked_target/.test(body.errors[0].error)) return null
  if (status !== 400 || body.error.code !== 'validation_error') return `answered ${status} ${JSON.stringify(body)}`
  const paths: string[] = body.error.details.map((detail: { path: string }) => detail.path)
  return paths.some(path => path.endsWith(String(place.at(-1)))) ? null : `points at ${paths}`
}

t.test('Every field of the document with an address is on the list', t => {
  t.ok(fields.length > 25, `${fields.length} fields`)
  t.same(
    fields
      .filter(field => getKind(field) === undefined)
      .map(({ operation, place }) => `${operation.name} ${toPlaceName(place)}`),
    [],
  )
  t.end()
})

t.test('No write accepts an internal address in any spelling, and nothing is stored', async t => {
  const before = await readTables(api.db)
  const complaints: string[] = []
  const web = INNER_LITERALS.map(host => `https://${host}:${port}/x`)
  const texts = { 'a web address': [...web, ...NO_WEB_ADDRESSES(port)], 'a name': INNER_LITERALS, 'no address': [] }
  const rows = fields.flatMap(field => texts[getKind(field) ?? 'a web address'].map(text => [field, text] as const))
  await forEachRow(rows, CONCURRENCY, async ([field, text]) => {
    const complaint = complaintAbout(await send(field, text), field)
    if (complaint) complaints.push(`${field.operation.name} ${toPlaceName(field.place)} ${text}: ${complaint}`)
  })
  t.same(complaints, [])
  t.same(await readTables(api.db), before)
})

t.test('No monitor of another type accepts one, in any form of its address', async t => {
  const forms: [type: string, form: (host: string) => string][] = [
    ['tcp', host => `${host}:${port}`],
    ['tcp', host => `tcp://${host}:${port}`],
    ['tcp', host => `https://${host}:${port}/`],
    ['ping', host => host],
    ['ping', host => `ping://${host}`],
    ['dns', host => `dns://${host}:${port}/example.com`],
    ['dns', host => `dns://${host}/example.com?type=TXT`],
  ]
  const before = await readTables(api.db)
  const complaints: string[] = []
  const create = operations.find(({ name }) => name === 'POST /monitors')!
  for (const [type, form] of forms) {
    const field = { operation: create, body: bare(type), place: ['url'] }
    for (const host of INNER_LITERALS) {
      const complaint = complaintAbout(await send(field, form(host)), field)
      if (complaint) complaints.push(`${type} ${form(host)}: ${complaint}`)
    }
  }
  t.same(complaints, [])
  t.same(await readTables(api.db), before)
})

t.test('The form for webhook subscriptions does not accept one', async t => {
  const page = await api.call('GET', `/status-pages/${records.page_id}`, { key: tenant.key })
  const before = await readTables(api.db)
  const body = new URLSearchParams({ webhook: `http://127.0.0.1:${port}/` })
  const answer = await fetch(`${api.origin}/status/${page.body.data.slug}/subscribe`, { method: 'POST', body })
  t.equal(answer.status, 400)
  t.match(await answer.text(), /is a loopback address/)
  t.same(await readTables(api.db), before)
  // a network can send few forms a minute, so the rest of the table is checked without the form
  const { checkLiteral } = createEgress({ allow: [] })
  for (const webhook of [...INNER_LITERALS.map(host => `https://${host}:${port}/x`), ...NO_WEB_ADDRESSES(port)]) {
    t.match(
      parseAddress({ email: '', webhook }, checkLiteral),
      { problem: /This webhook address is not accepted/ },
      webhook,
    )
  }
})

t.test('No request reached the forbidden port', t => {
  t.same(forbidden.touched, [])
  t.end()
})
