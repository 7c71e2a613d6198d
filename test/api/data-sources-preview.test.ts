import t from 'tap'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { FIELD } from '../support/bodies.ts'
import { startTarget } from '../support/target.ts'

const PER_MINUTE = 12
const api = await startApi(t, { TESTS_PER_MINUTE: String(PER_MINUTE) })
const target = await startTarget(t)
const other = await startTarget(t)

/** Each test has its own project, and so its own rate limit. */
async function previewer() {
  const { key } = await api.tenant()
  return (body: object) => api.call('POST', '/data-sources/preview', { key, body })
}

const DOCUMENT = {
  data: {
    services: { web: { status: 'ok' }, api: { status: 'slow' }, mail: { status: 'failing' } },
    backups: [{ at: '2001-01-01T00:00:00Z' }, {}],
  },
}
const serve = (body: unknown) =>
  target.behave({ kind: 'answer', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

t.test('POST /data-sources/preview 200 returns the children that a create would make, and stores nothing', async t => {
  serve(DOCUMENT)
  const preview = await previewer()
  const before = await query(api.db, 'SELECT (SELECT count(*) FROM data_sources), (SELECT count(*) FROM monitors)')
  const late = { path: 'backups[*].at', name_template: 'Backup {{key}}', rule_type: 'diff_lte' }
  const fields = [
    { ...FIELD, name_template: 'The {{key}} service' },
    { ...late, rule_config: { other_path: 'now', max: 86_400 } },
    { path: 'queues.*', name_template: '{{key}}', rule_type: 'truthy', rule_config: {} },
  ]
  const { status, body } = await preview({ url: target.url, root_path: '$.data', fields })
  t.equal(status, 200)
  t.match(body.data, {
    failure: null,
    children: [
      { field_index: 0, key: 'api', name: 'The api service', value: 'slow', status: 'degraded' },
      { key: 'mail', status: 'down', reason: 'services.mail.status is "failing", expected "ok"' },
      { key: 'web', status: 'up', reason: 'services.web.status is "ok"' },
      {
        field_index: 1,
        key: '0',
        name: 'Backup 0',
        status: 'down',
        reason: /s away from now, at most 86400 s allowed$/,
      },
    ],
    notes: ['queues.* matches nothing in the document'],
  })
  t.equal(body.data.children.length, 4)
  t.same(await query(api.db, 'SELECT (SELECT count(*) FROM data_sources), (SELECT count(*) FROM monitors)'), before)
})

t.test('A preview returns the document from its root path, and cuts a large one with a note', async t => {
  const preview = await previewer()
  serve(DOCUMENT)
  const whole = (await preview({ url: target.url, root_path: 'data' })).body.data
  t.same(whole.document, DOCUMENT.data)
  t.equal(whole.document_note, null)
  t.same((await preview({ url: target.url, root_path: 'data.services.web.status' })).body.data.document, 'ok')
  serve({ services: Array.from({ length: 20_000 }, (_, id) => ({ id, status: 'ok', text: 'x'.repeat(60) })) })
  const { document, document_note: note, children } = (await preview({ url: target.url, fields: [FIELD] })).body.data
  t.ok(JSON.stringify(document).length <= 262_144)
  t.same(document.services[0], { id: 0, status: 'ok', text: 'x'.repeat(60) })
  t.match(note, /^the document is larger than 256 KiB; the last entries of long lists/)
  t.equal(children.length, 200, 'rules are evaluated on the whole document')
})

t.test('A preview returns each value with its type', async t => {
  const long = 'x'.repeat(300)
  serve({ a: false, b: 'false', c: 0, d: '0', e: null, f: 'null', g: [1, 2], h: { a: 1 }, i: 1.5e300, j: '', k: long })
  const preview = await previewer()
  const fields = [{ path: '*', name_template: '{{key}} {{value}}', rule_type: 'truthy', rule_config: {} }]
  const { body } = await preview({ url: target.url, fields })
  t.same(
    body.data.children.map(({ value }: { value: unknown }) => value),
    [false, 'false', 0, '0', null, 'null', 'a list of 2', 'an object', 1.5e300, '', `${'x'.repeat(199)}…`],
  )
  t.match(body.data.children[0], { name: 'a false', status: 'down' })
})

t.test('A preview sends the configured request, and credentials replace headers', async t => {
  serve({})
  const preview = await previewer()
  const sentRequest = async (body: object) => {
    await preview({ url: target.url, ...body })
    return target.requests.at(-1)!
  }
  t.match(await sentRequest({}), { method: 'GET', headers: { accept: 'application/json', authorization: undefined } })
  t.match(await sentRequest({ auth_type: 'basic', auth_config: { username: 'ann', password: 'hush' } }), {
    headers: { authorization: `Basic ${Buffer.from('ann:hush').toString('base64')}` },
  })
  t.match(
    await sentRequest({
      auth_type: 'api_key',
      auth_config: { header: 'X-Key', value: 'hush' },
      headers: { 'x-key': 'a' },
    }),
    {
      headers: { 'x-key': 'hush' },
    },
  )
  const posted = await sentRequest({ method: 'POST', body: '{"query":1}', headers: { Accept: 'text/json' } })
  t.match(posted, { method: 'POST', headers: { 'content-type': 'application/json', accept: 'text/json' } })
})

t.test('http_ok requests the URLs of a document without the credentials of the source', async t => {
  other.behaveAt('/down', { kind: 'answer', status: 503 })
  serve({ a: `${other.url}up`, b: `${other.url}down`, c: 'http://10.0.0.1/', d: 204, e: 'http://[' })
  const preview = await previewer()
  const { body } = await preview({
    url: target.url,
    ...{ auth_type: 'bearer', auth_config: { token: 'hush' } },
    fields: [{ path: '*', name_template: '{{key}}', rule_type: 'http_ok', rule_config: {} }],
  })
  t.match(body.data.children, [
    { key: 'a', status: 'up', reason: /which responds with 200/ },
    { key: 'b', status: 'down', reason: /which responds with 503/ },
    { key: 'c', status: 'unknown', reason: /private address/ },
    { key: 'd', status: 'up' },
    { key: 'e', status: 'down', reason: /expected a status code .* or a URL/ },
  ])
  t.notOk(other.requests.some(({ headers }) => headers.authorization))
})

t.test('"now" is the time of the response, however long the URLs of http_ok take', async t => {
  other.behaveAt('/silent', { kind: 'hang', after: 'connect' })
  const body = () => JSON.stringify({ at: new Date().toISOString(), link: `${other.url}silent` })
  target.behave({ kind: 'answer', headers: { 'content-type': 'application/json' }, body })
  const preview = await previewer()
  const answer = await preview({
    url: target.url,
    // the URL is requested twice, so it takes at least 5 s
    timeout_ms: 2_000,
    fields: [
      { path: 'at', name_template: '{{key}}', rule_type: 'diff_lte', rule_config: { other_path: 'now', max: 4 } },
      { path: 'link', name_template: '{{key}}', rule_type: 'http_ok', rule_config: {} },
    ],
  })
  t.match(answer.body.data.children, [
    { key: 'at', status: 'up' },
    { key: 'link', status: 'down', reason: /does not respond/ },
  ])
})

t.test('A failed fetch gives a preview with a failure, not an error', async t => {
  const preview = await previewer()
  const previewTarget = async () => (await preview({ url: target.url, fields: [FIELD] })).body
  target.behave({ kind: 'answer', headers: { 'content-type': 'text/html' }, body: '<!doctype html><p>hello' })
  t.match(await previewTarget(), { data: { failure: { code: 'not_json', message: /HTML/ }, children: [], notes: [] } })
  target.behave({ kind: 'answer', status: 500 })
  t.match(await previewTarget(), { data: { failure: { code: 'http_status', message: /500/ } } })
  target.behave({ kind: 'redirect', to: 'http://10.0.0.1/' })
  t.match(await previewTarget(), { data: { failure: { code: 'blocked_target' } } })
  serve({ data: null, errors: [{ message: 'no' }] })
  const wrong = (await preview({ url: target.url, root_path: 'data', fields: [FIELD] })).body
  t.match(wrong, { data: { failure: { code: 'no_root', message: 'root_path data is null in the document' } } })
})

t.test('POST /data-sources/preview 400 for a body that a create refuses', async t => {
  const preview = await previewer()
  t.match(await preview({ url: 'http://10.0.0.1/' }), { status: 400, body: { error: { details: [{ path: 'url' }] } } })
  t.match(await preview({ url: target.url, fields: [{ ...FIELD, rule_config: {} }] }), {
    status: 400,
    body: { error: { details: [{ path: 'fields[0].rule_config.value' }] } },
  })
})

t.test('A preview of a stored source accepts masked secrets for the same origin', async t => {
  serve({})
  const owner = await api.tenant()
  const writeKey = await api.createKey(owner, 'write')
  const preview = (body: object, key = writeKey) => api.call('POST', '/data-sources/preview', { key, body })
  const auth = (token: string) => ({ auth_type: 'bearer', auth_config: { token } })
  const body = { name: 'Health', url: target.url, ...auth('hush') }
  const { id } = (await api.call('POST', '/data-sources', { key: owner.key, body })).body.data
  const masked = { data_source_id: id, url: `${target.url}other`, ...auth('********') }
  t.match(await preview(masked), { status: 200, body: { data: { failure: null } } })
  t.match(target.requests.at(-1), { path: '/other', headers: { authorization: 'Bearer hush' } })
  t.match(await preview({ ...masked, url: other.url }), { status: 403, body: { error: { message: /auth_config/ } } })
  t.match(await preview({ ...masked, data_source_id: undefined }), { status: 400 })
  const { key } = await api.tenant()
  t.match(await preview(masked, key), { status: 404 })
})

t.test('POST /data-sources/preview 429 when a project exceeds its limit per minute', async t => {
  serve({})
  const preview = await previewer()
  // a new minute may begin while they are sent
  const answers = []
  while (answers.length <= 2 * PER_MINUTE) {
    const some = Array.from({ length: 9 }, () => preview({ url: target.url }))
    answers.push(...(await Promise.all(some)))
  }
  t.ok(answers.filter(({ status }) => status === 200).length >= PER_MINUTE)
  const refused = answers.find(({ status }) => status === 429)
  t.match(refused?.body.error.message, /fetches of data sources on demand in a minute/)
})
