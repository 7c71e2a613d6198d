import { connect } from 'node:net'
import t from 'tap'
import { shareApi } from '../support/api-server.ts'

const api = await shareApi()
const NAME = { name: 'a key', scope: 'read' }

t.test('Every error has a code, a message and the status', async t => {
  const json = { 'content-type': 'application/json' }
  const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
  const rows: [string, string, string, Parameters<typeof api.call>[2], number, string, RegExp][] = [
    ['an unknown route', 'GET', '/nothing', {}, 404, 'not_found', /GET \/api\/v1\/nothing not found/],
    ['an unknown page', 'GET', `${api.origin}/nothing`, { key: null }, 404, 'not_found', /GET \/nothing not found/],
    ['a wrong method', 'PATCH', '/project', {}, 404, 'not_found', /PATCH/],
    ['a path that cannot be decoded', 'GET', '/%zz', {}, 404, 'not_found', /not found/],
    ['a malformed id', 'DELETE', '/api-keys/1%00', {}, 404, 'not_found', /API key not found/],
    ['an unknown id', 'DELETE', '/api-keys/01a1fb92-bd2c-74bd-b89d-7c289ceb0470', {}, 404, 'not_found', /API key/],
    ['no body where one is needed', 'POST', '/api-keys', {}, 400, 'validation_error', /the body must be an object/],
    ['an empty JSON body', 'POST', '/api-keys', { headers: json }, 400, 'validation_error', /must be an object/],
    ['broken JSON', 'POST', '/api-keys', { body: '{"name":' }, 400, 'validation_error', /not valid JSON/],
    [
      'bytes that are not UTF-8',
      'POST',
      '/api-keys',
      { body: Buffer.from([34, 0xff, 34]) },
      400,
      'validation_error',
      /UTF-8/,
    ],
    ['nesting 10,000 deep', 'POST', '/api-keys', { body: deep }, 400, 'validation_error', /nested/],
    [
      'half a million values',
      'POST',
      '/api-keys',
      { body: `[${'1,'.repeat(500_000)}1]` },
      400,
      'validation_error',
      /values/,
    ],
    [
      'a __proto__ key',
      'POST',
      '/api-keys',
      { body: '{"__proto__":{"scope":"admin"}}' },
      400,
      'validation_error',
      /key/,
    ],
    ['a NUL', 'POST', '/api-keys', { body: { ...NAME, name: 'a\0b' } }, 400, 'validation_error', /name contains/],
    [
      'half a surrogate pair',
      'POST',
      '/api-keys',
      { body: '{"name":"\\ud800","scope":"read"}' },
      400,
      'validation_error',
      /name contains/,
    ],
    [
      'a line break in a name',
      'POST',
      '/api-keys',
      { body: { ...NAME, name: 'a\r\nb' } },
      400,
      'validation_error',
      /line breaks/,
    ],
    [
      'an unknown property',
      'POST',
      '/api-keys',
      { body: { ...NAME, colour: 1 } },
      400,
      'validation_error',
      /colour is not a known/,
    ],
    ['a missing property', 'POST', '/api-keys', { body: { name: 'x' } }, 400, 'validation_error', /scope is required/],
    [
      'a wrong value',
      'POST',
      '/api-keys',
      { body: { ...NAME, scope: 'root' } },
      400,
      'validation_error',
      /one of read, write, admin/,
    ],
    ['a list as a body', 'POST', '/api-keys', { body: [] }, 400, 'validation_error', /must be an object/],
    ['a text as a body', 'POST', '/api-keys', { body: '"x"' }, 400, 'validation_error', /must be an object/],
    [
      'a body where none belongs',
      'DELETE',
      '/api-keys/x',
      { body: { a: 1 } },
      400,
      'validation_error',
      /a is not a known/,
    ],
    ['more than 1 MiB', 'POST', '/api-keys', { body: ' '.repeat(1024 * 1024 + 1) }, 413, 'payload_too_large', /1 MiB/],
    [
      'a form',
      'POST',
      '/api-keys',
      { body: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
      'unsupported_media_type',
      /JSON/,
    ],
    [
      'plain text',
      'POST',
      '/api-keys',
      { body: 'x', headers: { 'content-type': 'text/plain' } },
      415,
      'unsupported_media_type',
      /JSON/,
    ],
    [
      'a page that is not a number',
      'GET',
      '/api-keys?page=abc',
      {},
      400,
      'validation_error',
      /page must be an integer/,
    ],
    ['page zero', 'GET', '/api-keys?page=0', {}, 400, 'validation_error', /page must be at least 1/],
    ['an empty page', 'GET', '/api-keys?page=', {}, 400, 'validation_error', /page must be an integer/],
    ['two pages', 'GET', '/api-keys?page=1&page=2', {}, 400, 'validation_error', /page must be an integer/],
    [
      'a page beyond all numbers',
      'GET',
      '/api-keys?page=99999999999999999999',
      {},
      400,
      'validation_error',
      /page must be/,
    ],
    ['101 a page', 'GET', '/api-keys?per_page=101', {}, 400, 'validation_error', /per_page must be at most 100/],
    ['an unknown filter', 'GET', '/api-keys?colour=1', {}, 400, 'validation_error', /colour is not a known/],
    ['a filter where none belongs', 'GET', '/project?colour=1', {}, 400, 'validation_error', /colour is not a known/],
    [
      'an overlong idempotency key',
      'POST',
      '/api-keys',
      { body: NAME, headers: { 'idempotency-key': 'k'.repeat(256) } },
      400,
      'validation_error',
      /Idempotency-Key/,
    ],
  ]
  for (const [what, method, path, sent, status, code, message] of rows) {
    const answer = await api.call(method, path, sent)
    t.match(answer, { status, body: { error: { code, message, status } } }, `${what} is ${status} ${code}`)
  }
})

t.test('A POST without a body works with and without a content type; an unexpected body is refused', async t => {
  const { body } = await api.call('POST', '/monitors', { body: { name: 'Shop', type: 'http' } })
  const pause = (sent: Parameters<typeof api.call>[2]) => api.call('POST', `/monitors/${body.data.id}/pause`, sent)
  for (const type of ['application/json', 'text/plain', 'application/x-www-form-urlencoded']) {
    t.equal((await pause({ headers: { 'content-type': type } })).status, 200, type)
  }
  t.equal((await pause({})).status, 200)
  t.equal((await pause({ body: {} })).status, 200)
  for (const unwanted of [[], 'x', 1]) {
    const answer = await pause({ body: JSON.stringify(unwanted) })
    t.match(answer, { status: 400, body: { error: { message: 'this endpoint does not accept a body' } } })
  }
})

t.test('A validation error names every invalid field', async t => {
  const { body } = await api.call('POST', '/api-keys', { body: { name: '', scope: 1, colour: 'red' } })
  t.same(body.error.details, [
    { path: 'colour', message: 'colour is not a known property' },
    { path: 'name', message: 'name must not be empty' },
    { path: 'scope', message: 'scope must be a string' },
    { path: 'scope', message: 'scope must be one of read, write, admin' },
  ])
  t.equal(body.error.message, 'colour is not a known property (and 3 more)')
})

t.test('A refused request stores nothing', async t => {
  const before = await api.call('GET', '/api-keys')
  await api.call('POST', '/api-keys', { body: { ...NAME, extra: true } })
  t.same((await api.call('GET', '/api-keys')).body, before.body)
})

t.test('HEAD works on GET routes and has no body', async t => {
  const answer = await api.call('HEAD', '/project')
  t.equal(answer.status, 200)
  t.equal(answer.body, '')
})

t.test('A list returns its page, its size and its total', async t => {
  for (let i = 0; i < 3; i++) await api.call('POST', '/api-keys', { body: { ...NAME, name: `key ${i}` } })
  const { body } = await api.call('GET', '/api-keys?page=2&per_page=2')
  t.same(body.meta, { page: 2, per_page: 2, total: 4, total_pages: 2 })
  t.same(
    body.data.map((key: { name: string }) => key.name),
    ['key 0', 'test'],
    'newest first',
  )
})

t.test('Bytes that are not HTTP get an error in the common shape', async t => {
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(new URL(api.origin).port), '127.0.0.1', () => socket.write('hello\r\n\r\n'))
    let received = ''
    socket.on('data', data => {
      received += data
    })
    socket.on('end', () => resolve(received)).on('error', reject)
  })
  t.match(text, /^HTTP\/1\.1 400 .*"status":400/s)
})
