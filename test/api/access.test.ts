import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { generateApiKey } from '../../control-plane/foundation/web/auth/api-key.ts'
import { startApi } from '../support/api-server.ts'
import { buildBody } from '../support/bodies.ts'
import { type Operation, POSTED_READS, readOperations } from '../support/operations.ts'
import { makeOperator } from '../support/operator.ts'
import { buildAddress, createRecords, getPathId, type Records } from '../support/records.ts'
import { readTables } from '../support/stored.ts'

const api = await startApi(t, { RATE_LIMIT_PER_MINUTE: '1000000' })
const mine = await makeOperator(api.db, await api.tenant())
const records = await createRecords(api, mine)
const { operations } = await readOperations(api)
const closed = operations.filter(({ isOpen }) => !isOpen)

/** Operations that a key with scope write may not call (docs/design/api.md#scopes). */
const NEEDS_ADMIN = /^\/(api-keys|members|agent\/invite|audit-log|probe-tokens)/

/** The audit log contains deleted records, so its filters accept unknown ids. */
const isOfTheGone = ({ path }: Operation) => path === '/audit-log'

function send(
  operation: Operation,
  address: string,
  { key, ...sent }: { key: string | null; headers?: Record<string, string>; body?: object },
) {
  const body = sent.body ?? (operation.body ? buildBody(operation, records) : undefined)
  return api.call(operation.method, address, { key, headers: sent.headers, body })
}

t.test('Every operation except the open ones answers 401 without a valid key', async t => {
  const swapped = mine.key.replace(/.$/, last => (last === '0' ? '1' : '0'))
  const basic = `Basic ${Buffer.from(`${mine.key}:`).toString('base64')}`
  const deleted = await api.call('POST', '/api-keys', { key: mine.key, body: { name: 'gone', scope: 'admin' } })
  await api.call('DELETE', `/api-keys/${deleted.body.data.id}`, { key: mine.key })
  const forms: [string, Record<string, string>][] = [
    ['nothing', {}],
    ['an empty header', { authorization: '' }],
    ['no key', { authorization: 'Bearer ' }],
    ['a raw key', { authorization: mine.key }],
    ['X-API-Key', { 'x-api-key': mine.key }],
    ['Basic', { authorization: basic }],
    ['a cookie', { cookie: `session=${mine.key}` }],
    ['a key of another service', { authorization: 'Bearer sk_live_something' }],
    ['a wrong checksum', { authorization: `Bearer ${swapped}` }],
    ['an unknown key', { authorization: `Bearer ${generateApiKey()}` }],
    ['two keys', { authorization: `Bearer ${mine.key} ${mine.key}` }],
    ['a deleted key', { authorization: `Bearer ${deleted.body.data.key}` }],
  ]
  for (const operation of closed) {
    const statuses = await Promise.all(
      forms.map(async ([what, headers]) => {
        const { status, body } = await send(operation, buildAddress(operation, records), { key: null, headers })
        return `${what}: ${status} ${body.error?.code}`
      }),
    )
    t.same(
      statuses,
      forms.map(([what]) => `${what}: 401 unauthorized`),
      operation.name,
    )
  }
})

t.test('A key with too low a scope gets 403 before any other check', async t => {
  for (const scope of ['read', 'write'] as const) {
    const key = await api.createKey(mine, scope)
    for (const operation of closed) {
      const isRead = operation.method === 'GET' || POSTED_READS.includes(operation.name)
      const mayDo = !NEEDS_ADMIN.test(operation.path) && (isRead || scope === 'write')
      const address = buildAddress(operation, records, getPathId(operation, records) && uuidv7())
      const { status, body } = await send(operation, address, { key, ...(operation.body && { body: { colour: 1 } }) })
      const refused = status === 403 && body.error.code === 'insufficient_scope'
      t.equal(refused, !mayDo, `${operation.name} with a ${scope} key: ${status}`)
      if (mayDo) t.ok(status < 500 && status !== 401, `${operation.name} with a ${scope} key: ${status}`)
    }
  }
})

const ofOthers = await createRecords(api, await api.tenant())
const withId = closed.filter(({ path }) => path.includes('{id}'))

const everything = () => readTables(api.db)

t.test('An id of another tenant, an unknown and a malformed id in a path are 404 and change nothing', async t => {
  const before = await everything()
  for (const operation of withId) {
    const ids: [string, string][] = [
      ['another tenant’s', getPathId(operation, ofOthers)!],
      ['unknown', uuidv7()],
      ['an unknown delivery', `whd_${'0'.repeat(32)}`],
      ['no id', 'x'],
      ['a number', '1'],
      ['nil', '00000000-0000-0000-0000-000000000000'],
      ['with a NUL', '%00'],
      ['with a NUL at the end', `${getPathId(operation, records)}%00`],
      ['with a line break', `${getPathId(operation, records)}%0d%0a`],
      ['with a blank', `%20${getPathId(operation, records)}`],
      ['in braces', `%7B${getPathId(operation, records)}%7D`],
      ['half a surrogate pair', '%ed%a0%80'],
      ['SQL', "1'%20OR%20'1'='1"],
      ['upwards', '..%2f..%2fproject'],
      ['long', 'x'.repeat(2_000)],
    ]
    for (const [what, id] of ids) {
      const { status, body } = await send(operation, buildAddress(operation, records, id), { key: mine.key })
      t.match(
        { status, body },
        { status: 404, body: { error: { code: 'not_found', status: 404 } } },
        `${operation.name}: ${what}`,
      )
    }
  }
  t.same(await everything(), before)
})

/** Nested records, each as a part of a path. */
const INNER = ['component_id', 'group_id', 'subscriber_id', 'field_id'] as const

t.test(
  'A nested record that belongs to another parent, is unknown or malformed is 404 and stays unchanged',
  async t => {
    const before = await everything()
    const wrong: [string, (name: (typeof INNER)[number]) => string][] = [
      ['another tenant’s', name => ofOthers[name]],
      ['unknown', () => uuidv7()],
      ['no id', () => 'x'],
      ['with a NUL', name => `${records[name]}%00`],
      ['with a line break', name => `${records[name]}%0d%0a`],
      ['half a surrogate pair', () => '%ed%a0%80'],
      ['upwards', () => '..%2f..%2fproject'],
    ]
    for (const operation of withId.filter(({ path }) => path.split('{').length > 2)) {
      for (const [what, getId] of wrong) {
        const inner = Object.fromEntries(INNER.map(name => [name, getId(name)]))
        const { status, body } = await send(operation, buildAddress(operation, { ...records, ...inner }), {
          key: mine.key,
        })
        t.match([status, body.error?.code], [404, 'not_found'], `${operation.name}: ${what}`)
      }
    }
    t.same(await everything(), before)
  },
)

/** Ids of external systems. */
const FOREIGN_WORDS = ['relay_source_id']

/** Operations that refuse an item with the error that another operation answers with. */
const ANSWERS_BY_ITEM = ['POST /monitors/bulk-changes']

/** Each id in a body at any depth, and the body with another id in its place. */
function idsIn(value: unknown, name = ''): { name: string; bodyWith: (id: string) => unknown }[] {
  if (typeof value === 'string') {
    const isId = /_ids?$/.test(name) && !FOREIGN_WORDS.includes(name)
    return isId ? [{ name: name.replace(/s$/, ''), bodyWith: id => id }] : []
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => {
    const put = (other: unknown) => (Array.isArray(value) ? value.with(Number(key), other) : { ...value, [key]: other })
    const found = idsIn(inner, Array.isArray(value) ? name : key)
    return found.map(({ name, bodyWith }) => ({ name, bodyWith: (id: string) => put(bodyWith(id)) }))
  })
}

t.test('An id of another tenant, an unknown and a malformed id in a body or a filter are 404', async t => {
  const before = await everything()
  const wrongIds = (name: string) => [
    ofOthers[name as keyof Records] ?? ofOthers.alert_channel_id,
    uuidv7(),
    'x',
    '1;--',
  ]
  for (const operation of closed.filter(operation => !isOfTheGone(operation))) {
    const inBody = operation.body ? idsIn(buildBody(operation, records)) : []
    for (const { name, bodyWith } of inBody) {
      for (const id of wrongIds(name)) {
        const body = bodyWith(id) as object
        const answer = await send(operation, buildAddress(operation, records), { key: mine.key, body })
        const refusal = ANSWERS_BY_ITEM.includes(operation.name) ? answer.body.data.items[0] : answer.body
        t.equal(refusal.error?.code, 'not_found', `${operation.name} with ${name} ${id}: ${answer.status}`)
      }
    }
    const inQuery = operation.query.filter(({ name }) => name.endsWith('_id'))
    for (const { name } of inQuery) {
      for (const id of wrongIds(name)) {
        const address = `${operation.path}?${name}=${encodeURIComponent(id)}`
        const { status } = await send(operation, address, { key: mine.key })
        t.equal(status, 404, `${operation.name} with ${name} ${id}`)
      }
    }
  }
  t.same(await everything(), before)
})

t.test('Every list refuses an unknown query parameter and an invalid page with 400', async t => {
  for (const operation of closed.filter(({ method }) => method === 'GET')) {
    const address = buildAddress(operation, records)
    const more = (text: string) => `${address}${address.includes('?') ? '&' : '?'}${text}`
    const isList = operation.query.some(({ name }) => name === 'page')
    for (const text of [
      'colour=1',
      'constructor=1',
      '__proto__=1',
      ...(isList ? ['page=0', 'page=1.5', 'per_page=101', 'per_page=1e2', 'page=%00'] : []),
    ]) {
      const { status, body } = await send(operation, more(text), { key: mine.key })
      t.match(
        { status, body },
        { status: 400, body: { error: { details: [{ path: text.split('=')[0] }] } } },
        `${operation.name} ${text}`,
      )
    }
  }
})

t.test('A time that does not exist is 400 in every filter', async t => {
  const times = [
    'x',
    '',
    '2026',
    '2026-02-30T00:00:00Z',
    '2026-08-01T23:59:60Z',
    '2026-08-01T00:00:00',
    '2026-08-01T25:00:00Z',
    '2026-08-01T00:00:00+05',
    '2026-08-01T00:00:00.Z',
    '0000-01-01T00:00:00Z',
    '2026-08-01T00:00:00Z\0',
    '٢٠٢٦-٠٨-٠١T٠٠:٠٠:٠٠Z',
  ]
  for (const operation of closed) {
    for (const { name } of operation.query.filter(({ schema }) => schema.format === 'date-time')) {
      for (const time of times) {
        const address = buildAddress(operation, records)
        const { status, body } = await send(
          operation,
          `${address}${address.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(time)}`,
          { key: mine.key },
        )
        t.match(
          { status, body },
          { status: 400, body: { error: { details: [{ path: name }] } } },
          `${operation.name} ${name}=${JSON.stringify(time)}`,
        )
      }
      for (const time of ['1970-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '2026-08-01T00:00:00.123456789+05:30']) {
        const address = buildAddress(operation, records)
        const { status } = await send(
          operation,
          `${address}${address.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(time)}`,
          { key: mine.key },
        )
        t.ok(status === 200 || status === 400, `${operation.name} ${name}=${time}: ${status}`)
      }
    }
  }
})

t.test('Every operation on a deleted record answers 404', async t => {
  const deletions = closed.filter(({ method, path }) => method === 'DELETE' && path.endsWith('}'))
  const order = [
    '/alerts/rules/{id}',
    '/alerts/channels/{id}',
    '/monitors/{id}',
    '/status-pages/{id}',
    '/api-keys/{id}',
    '/data-sources/{id}',
  ]
  deletions.sort((a, b) => order.indexOf(a.path) - order.indexOf(b.path))
  for (const deletion of deletions) {
    const address = buildAddress(deletion, records)
    const deleted = await send(deletion, address, { key: mine.key })
    t.match(deleted, { status: 200, body: { data: { id: address.split('/').at(-1), deleted: true } } }, deletion.name)
    const others = withId.filter(({ path }) => path.startsWith(deletion.path))
    for (const operation of others) {
      const { status } = await send(operation, buildAddress(operation, records), { key: mine.key })
      t.equal(status, 404, `${operation.name} after the deletion`)
    }
  }
  for (const operation of closed.filter(operation => !isOfTheGone(operation))) {
    for (const { name } of operation.query.filter(({ name }) => name.endsWith('_id'))) {
      const id = name === 'channel_id' ? records.alert_channel_id : records[name as keyof Records]
      const { status } = await send(operation, `${operation.path}?${name}=${id}`, { key: mine.key })
      t.equal(status, 404, `${operation.name} filtered by it`)
    }
  }
})
