import t from 'tap'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { monitorRoutes } from '../../control-plane/monitoring/monitors/routes.ts'
import { createResourceApi } from '../support/resource-api.ts'
import { NO_HISTORY } from '../support/unwatched.ts'

const api = await createResourceApi(t, (app, handles) => {
  monitorRoutes(app, { ...handles, readMonitoringState: NO_HISTORY })
})
const account = await api.account()
const { call } = account

/** All stored monitors, to show that nothing was stored. */
const stored = () => query(api.db, 'SELECT monitors::text FROM monitors ORDER BY id')

const long = (length: number) => 'x'.repeat(length)
const assertion = (type: string, operator: string, value: unknown) => ({ assertions: [{ type, operator, value }] })
const auth = (auth_type: string, auth_config: unknown) => ({ auth_type, auth_config })

type Row = [wrong: Record<string, unknown>, path: string]

/** Invalid in a create and in an update. */
const WRONG: Row[] = [
  [{ name: '' }, 'name'],
  [{ name: long(101) }, 'name'],
  [{ name: 'a\r\nb' }, 'name'],
  [{ name: 'a\nb' }, 'name'],
  [{ name: 'a\0b' }, 'name'],
  [{ name: 'half a pair \ud800' }, 'name'],
  [{ name: 7 }, 'name'],
  [{ name: null }, 'name'],
  [{ type: 'smtp' }, 'type'],
  [{ type: 'HTTP' }, 'type'],
  [{ type: ['http'] }, 'type'],
  [{ url: '' }, 'url'],
  [{ url: `https://example.com/${long(2048)}` }, 'url'],
  [{ url: 'example.com' }, 'url'],
  [{ url: 'file:///etc/passwd' }, 'url'],
  [{ url: 'javascript:alert(1)' }, 'url'],
  [{ url: 'https://' }, 'url'],
  [{ url: 'https://exa mple.com' }, 'url'],
  [{ url: 'https://example.com\r\nX: y' }, 'url'],
  [{ url: 'https://user:hush@example.com' }, 'url'],
  [{ url: 'https://example.com:0' }, 'url'],
  [{ url: 5 }, 'url'],
  [{ method: 'get' }, 'method'],
  [{ method: 'TRACE' }, 'method'],
  [{ headers: { a: 1 } }, 'headers.a'],
  [{ headers: [] }, 'headers'],
  [{ headers: { 'a b': 'c' } }, 'headers.a b'],
  [{ headers: { 'a\r\nb': 'c' } }, 'headers.a\r\nb'],
  [{ headers: { a: 'b\r\nc: d' } }, 'headers.a'],
  [{ headers: { a: 'b\0' } }, 'headers.a'],
  [{ headers: { a: 'ж' } }, 'headers.a'],
  [{ headers: { A: 'b', a: 'c' } }, 'headers.a'],
  [{ headers: { 'Content-Length': '5' } }, 'headers.Content-Length'],
  [{ headers: { 'Transfer-Encoding': 'chunked' } }, 'headers.Transfer-Encoding'],
  [{ headers: { a: long(8193) } }, 'headers.a'],
  [{ headers: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`h${i}`, 'v'])) }, 'headers'],
  [{ headers: { Authorization: '********' } }, 'headers.Authorization'],
  [{ body: long(262_145) }, 'body'],
  [{ body: 'a\0b' }, 'body'],
  [{ body: {} }, 'body'],
  [{ interval_seconds: 29 }, 'interval_seconds'],
  [{ interval_seconds: 3601 }, 'interval_seconds'],
  [{ interval_seconds: 30.5 }, 'interval_seconds'],
  [{ interval_seconds: '60' }, 'interval_seconds'],
  [{ interval_seconds: null }, 'interval_seconds'],
  [{ timeout_ms: 999 }, 'timeout_ms'],
  [{ timeout_ms: 60_001 }, 'timeout_ms'],
  [{ timeout_ms: '1000' }, 'timeout_ms'],
  [{ regions: [] }, 'regions'],
  [{ regions: ['mars'] }, 'regions[0]'],
  [{ regions: ['us-east', 'us-east'] }, 'regions'],
  [{ regions: 'us-east' }, 'regions'],
  [{ regions: null }, 'regions'],
  [{ assertions: [{ type: 'body', operator: 'contains' }] }, 'assertions[0].value'],
  [{ assertions: [{ type: 'body', operator: 'contains', value: 'a', more: 'b' }] }, 'assertions[0].more'],
  [assertion('body', 'contains', 5), 'assertions[0].value'],
  [assertion('cookies', 'equals', 'a'), 'assertions[0]'],
  [assertion('constructor', 'equals', 'a'), 'assertions[0]'],
  [assertion('body', 'resembles', 'a'), 'assertions[0]'],
  [assertion('response_time', 'contains', '5'), 'assertions[0]'],
  [assertion('response_time', 'less_than', 'soon'), 'assertions[0]'],
  [assertion('status_code', 'equals', '6xx'), 'assertions[0]'],
  [assertion('body', 'matches', '(?=a)'), 'assertions[0]'],
  [assertion('header', 'equals', 'no colon'), 'assertions[0]'],
  [{ assertions: Array(51).fill({ type: 'body', operator: 'contains', value: 'a' }) }, 'assertions'],
  [{ keyword: '' }, 'keyword'],
  [{ keyword: long(1001) }, 'keyword'],
  [{ keyword: '(a', keyword_type: 'regex' }, 'keyword'],
  [{ keyword: '(a)\\1', keyword_type: 'regex' }, 'keyword'],
  [{ keyword: 'a{1000}{1000}', keyword_type: 'regex' }, 'keyword'],
  [{ keyword_type: 'glob' }, 'keyword_type'],
  [{ ssl_check: 'true' }, 'ssl_check'],
  [{ domain_check: 1 }, 'domain_check'],
  [{ screenshot_on_failure: null }, 'screenshot_on_failure'],
  [{ screenshot_compare: 'no' }, 'screenshot_compare'],
  [{ witness: 'no' }, 'witness'],
  [{ witness: null }, 'witness'],
  [{ witness_with_credentials: 1 }, 'witness_with_credentials'],
  [{ retry_count: -1 }, 'retry_count'],
  [{ retry_count: 6 }, 'retry_count'],
  [{ retry_count: 1e300 }, 'retry_count'],
  [{ tags: [long(51)] }, 'tags[0]'],
  [{ tags: ['a\nb'] }, 'tags[0]'],
  [{ tags: [''] }, 'tags[0]'],
  [{ tags: 'a' }, 'tags'],
  [{ tags: Array(51).fill('a') }, 'tags'],
  [{ status: 'up' }, 'status'],
  [{ id: '0190a0a0-0000-7000-8000-000000000000' }, 'id'],
  [{ project_id: '0190a0a0-0000-7000-8000-000000000000' }, 'project_id'],
  [{ constructor: 'x' }, 'constructor'],
]

/** Invalid in a create only: an update does not accept these fields, or does not require them. */
const WRONG_IN_A_CREATE: Row[] = [
  [{ name: undefined }, 'name'],
  [{ type: undefined }, 'type'],
  [{ screenshot_threshold: null }, 'screenshot_threshold'],
  [{ heartbeat_interval: 29 }, 'heartbeat_interval'],
  [{ heartbeat_interval: 31 * 86_400 + 1 }, 'heartbeat_interval'],
  [{ heartbeat_interval: '60' }, 'heartbeat_interval'],
  [{ heartbeat_grace: -1 }, 'heartbeat_grace'],
  [{ heartbeat_grace: 31 * 86_400 + 1 }, 'heartbeat_grace'],
  [{ screenshot_threshold: -0.01 }, 'screenshot_threshold'],
  [{ screenshot_threshold: 1.01 }, 'screenshot_threshold'],
  [{ screenshot_threshold: '0.5' }, 'screenshot_threshold'],
  [{ auth_type: 'digest', auth_config: {} }, 'auth_type'],
]

const WRONG_CREDENTIALS: Row[] = [
  [{ auth_type: 'basic', auth_config: null }, 'auth_config'],
  [{ auth_type: null, auth_config: { token: 'a' } }, 'auth_type'],
  [auth('basic', { username: 'a' }), 'auth_config.password'],
  [auth('basic', { username: 'a', password: 5 }), 'auth_config.password'],
  [auth('basic', { username: 'a', password: 'b\nc' }), 'auth_config.password'],
  [auth('bearer', {}), 'auth_config.token'],
  [auth('bearer', { token: '********' }), 'auth_config.token'],
  [auth('bearer', { token: long(8193) }), 'auth_config.token'],
  [auth('bearer', { token: '' }), 'auth_config.token'],
  [auth('header', { name: 'X-Key' }), 'auth_config.value'],
  [auth('header', { name: 'X-Key', value: '' }), 'auth_config.value'],
  [auth('header', { name: 'a b', value: 'c' }), 'auth_config'],
  [auth('header', { name: 'Content-Length', value: '5' }), 'auth_config'],
  [auth('bearer', [] as never), 'auth_config'],
]

const BLOCKED = [
  ['http', 'http://127.0.0.1/'],
  ['http', 'http://0177.0.0.1/'],
  ['http', 'http://2130706433/'],
  ['http', 'http://127.1/'],
  ['http', 'http://127。0。0。1/'],
  ['http', 'http://[::1]/'],
  ['http', 'http://[::ffff:10.0.0.1]/'],
  ['http', 'http://169.254.169.254/latest/meta-data'],
  ['keyword', 'https://100.64.0.1'],
  ['tcp', '192.168.1.1:22'],
  ['tcp', 'tcp://[fe80::1]:22'],
  ['ping', 'ping://10.1.2.3'],
  ['ping', '0x7f.1'],
  ['dns', 'dns://224.0.0.1'],
] as const

const valid = { name: 'Shop', type: 'http', url: 'https://example.com' }

t.test('POST /monitors 400 names the invalid field and stores nothing', async t => {
  for (const [wrong, path] of [...WRONG, ...WRONG_IN_A_CREATE, ...WRONG_CREDENTIALS]) {
    const { status, body } = await call('POST /monitors', { ...valid, ...wrong })
    const title = JSON.stringify(wrong).slice(0, 100)
    t.match({ status, ...body }, { status: 400, error: { code: 'validation_error', status: 400 } }, title)
    const paths = body.error.details?.map((detail: { path: string }) => detail.path)
    t.ok(paths?.includes(path), `${title}: ${path} is among ${paths}`)
    t.ok(body.error.message.length < 300)
  }
  t.same(await stored(), [])
})

t.test('POST /monitors/bulk reports the same problems by index and stores nothing', async t => {
  const rows = [...WRONG, ...WRONG_IN_A_CREATE].filter(([wrong]) => !/\\u0000|\\ud800/.test(JSON.stringify(wrong)))
  for (let from = 0; from < rows.length; from += 10) {
    const items = rows.slice(from, from + 10).map(([wrong]) => ({ ...valid, ...wrong }))
    const { status, body } = await call('POST /monitors/bulk', { monitors: items })
    t.equal(status, 201)
    t.same(
      body.errors.map(({ index }: { index: number }) => index),
      items.map((_, index) => index),
    )
  }
  t.same(await stored(), [])
})

t.test('A create with a blocked literal address is refused in every spelling', async t => {
  for (const [type, url] of BLOCKED) {
    const { status, body } = await call('POST /monitors', { name: 'Inside', type, url })
    t.match(
      { status, ...body },
      { status: 400, error: { details: [{ path: 'url', message: /^blocked_target: / }] } },
      url,
    )
  }
  t.same(await stored(), [])
})

t.test(
  'A body that is not a JSON object is refused with 400, another content type with 415, a too large body with 413',
  async t => {
    for (const body of [
      '',
      '{',
      '[]',
      'null',
      '"x"',
      '{"name":"a","type":"http","__proto__":{"a":1}}',
      '['.repeat(10_000),
    ]) {
      const answer = await call('POST /monitors', body)
      t.match(answer, { status: 400, body: { error: { code: 'validation_error' } } }, body.slice(0, 40))
    }
    t.equal((await call('POST /monitors', JSON.stringify(valid), { 'content-type': 'text/plain' })).status, 415)
    t.match(await call('POST /monitors', { ...valid, body: long(1024 * 1024) }), {
      status: 413,
      body: { error: { code: 'payload_too_large' } },
    })
    t.same(await stored(), [])
  },
)

t.test(
  'A JSON body is accepted as UTF-8 without compression only; anything else is 415 and stores nothing',
  async t => {
    const send = (headers: Record<string, string>) => call('POST /monitors', JSON.stringify(valid), headers)
    for (const charset of ['iso-8859-1', '"UTF-16"', 'us-ascii', '']) {
      const answer = await send({ 'content-type': `application/json; charset=${charset}` })
      t.match(answer, { status: 415, body: { error: { code: 'unsupported_media_type', message: /UTF-8/ } } }, charset)
    }
    for (const encoding of ['gzip', 'br', 'identity, gzip']) {
      const answer = await send({ 'content-type': 'application/json', 'content-encoding': encoding })
      t.match(answer, { status: 415, body: { error: { message: /Content-Encoding/ } } }, encoding)
    }
    t.same(await stored(), [])
    for (const type of ['application/json; charset=utf-8', 'application/json;charset="UTF-8"', 'Application/JSON']) {
      const answer = await send({ 'content-type': type, 'content-encoding': 'Identity' })
      t.equal(answer.status, 201, type)
      await call(`DELETE /monitors/${answer.body.data.id}`)
    }
  },
)

t.test('PUT /monitors/{id} 400 changes nothing', async t => {
  const created = await call('POST /monitors', { ...valid, headers: { Accept: 'a' } })
  const before = await stored()
  const path = `PUT /monitors/${created.body.data.id}`
  const notAccepted = ['auth_type', 'auth_config', 'heartbeat_interval', 'heartbeat_grace', 'screenshot_threshold']
  const refused = notAccepted.map((field): Row => [{ [field]: created.body.data[field] ?? 60 }, field])
  for (const [wrong, place] of [...WRONG, ...refused]) {
    const { status, body } = await call(path, wrong)
    const title = JSON.stringify(wrong).slice(0, 100)
    t.equal(status, 400, title)
    const paths = body.error.details?.map((detail: { path: string }) => detail.path)
    t.ok(paths?.includes(place), `${title}: ${place} is among ${paths}`)
  }
  for (const [wrong, place] of WRONG_CREDENTIALS) {
    const { status, body } = await call(`${path}/auth`, wrong)
    t.match(
      { status, ...body },
      { status: 400, error: { details: [{ path: place }] } },
      JSON.stringify(wrong).slice(0, 100),
    )
  }
  for (const wrong of [
    {},
    { auth_type: 'bearer' },
    { auth_config: { token: 'a' } },
    { auth_type: null, auth_config: null, more: 1 },
  ]) {
    t.equal((await call(`${path}/auth`, wrong)).status, 400)
  }
  t.same(await stored(), before)
})
