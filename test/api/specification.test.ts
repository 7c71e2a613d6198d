import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { RESOURCES } from '../specification/fields.ts'
import { OPERATIONS } from '../specification/operations.ts'
import { startApi } from '../support/api-server.ts'
import { buildBody } from '../support/bodies.ts'
import { type Operation, readOperations } from '../support/operations.ts'
import { buildAddress, createRecords } from '../support/records.ts'

/** The requests of the specification's lists, sent one by one to a running API. */
const PUBLIC_URL = 'https://picket.example.com'
const api = await startApi(t, { RATE_LIMIT_PER_MINUTE: '1000000', PUBLIC_URL })
const mine = await api.tenant('business')
const records = await createRecords(api, mine)
const { operations } = await readOperations(api)
const findOperation = (name: string): Operation => operations.find(operation => operation.name === name)!
const specified = Object.keys(OPERATIONS).map(findOperation)

type Json = Record<string, unknown>

const send = (operation: Operation, body?: Json, key = mine.key) =>
  api.call(operation.method, buildAddress(operation, records), { key: operation.isOpen ? null : key, body })

t.test('An API key sent to a wrong base address is 401 with the right address', async t => {
  const wrong = ['', '/api', '/v1', '/api/v2', '/api/v1.0']
  for (const operation of specified) {
    for (const base of wrong) {
      const body = operation.body ? buildBody(operation, records) : undefined
      const address = `${api.origin}${base}${buildAddress(operation, records)}`
      const answer = await api.call(operation.method, address, { key: mine.key, body })
      const error = { code: 'unauthorized', status: 401, message: new RegExp(`base address.* ${PUBLIC_URL}/api/v1$`) }
      t.match(answer, { status: 401, body: { error } }, `${operation.method} ${base}${operation.path}`)
    }
  }
})

t.test('An address outside the API is 404 without an API key, and so is an unknown public page', async t => {
  const Basic = `Basic ${Buffer.from('proxy:secret').toString('base64')}`
  t.equal((await api.call('GET', `${api.origin}/v1/monitors`, { key: null })).status, 404)
  t.equal(
    (await api.call('GET', `${api.origin}/favicon.ico`, { key: null, headers: { authorization: Basic } })).status,
    404,
  )
  t.equal((await api.call('GET', `${api.origin}/status/nothing`, { key: mine.key })).status, 404)
  t.equal((await api.call('GET', '/nothing', { key: mine.key })).status, 404)
})

t.test('A read key may use every specified GET', async t => {
  const key = await api.createKey(mine, 'read')
  for (const operation of specified.filter(({ method }) => method === 'GET')) {
    const { status } = await send(operation, undefined, key)
    const expected = operation.isOpen ? [400] : OPERATIONS[operation.name]!
    t.ok(expected.includes(status), `${operation.name}: ${status}`)
  }
})

/** Properties that are valid only together with others. */
const TOGETHER: Record<string, string[]> = { auth_type: ['auth_config'], auth_config: ['auth_type'] }

/** Values in addition to test/support/bodies.ts: an unknown id, and addresses without a server. */
const EXTREMES: Json = {
  id: uuidv7(),
  logo_url: 'https://127.0.0.1:1/logo.png',
  favicon_url: 'https://127.0.0.1:1/icon',
}

/** A duplicate is a 409: it was accepted and exists already. */
const isTaken = (status: number) => status < 300 || status === 409

const pick = (body: Json, names: string[]): Json => Object.fromEntries(names.map(name => [name, body[name]]))

t.test('A create accepts every specified optional field by itself', async t => {
  for (const { name, create } of RESOURCES) {
    if (!create) continue
    const operation = findOperation(create.operation)
    for (const [field, { nullable, items }] of Object.entries<Json>(create.fields)) {
      if (operation.isOpen) await api.db.raw('DELETE FROM bootstrap_attempts')
      const full = {
        ...buildBody(operation, records),
        ...pick(
          EXTREMES,
          Object.keys(EXTREMES).filter(key => key in create.fields),
        ),
      }
      const body = pick(full, [...create.required, field, ...(TOGETHER[field] ?? [])])
      const bodies = [body, ...(nullable ? [{ ...pick(full, create.required), [field]: null }] : [])]
      const { properties, required } = (items ?? {}) as { properties?: Json; required?: string[] }
      for (const inner of Object.keys(properties ?? {})) {
        const item = { ...(full[field] as Json[])[0], ...pick(EXTREMES, inner in EXTREMES ? [inner] : []) }
        bodies.push({ ...body, [field]: [pick(item, [...required!, inner])] })
      }
      for (const one of bodies) {
        const { status, body: answer } = await send(operation, one)
        t.ok(isTaken(status), `${name}: ${JSON.stringify(one)} is ${status} ${answer.error?.message ?? ''}`)
      }
    }
  }
})

t.test('An update accepts every specified field by itself, and null where it is allowed', async t => {
  for (const { name, update } of RESOURCES) {
    if (!update) continue
    const operation = findOperation(update.operation)
    const full = { ...buildBody(operation, records) }
    for (const [field, { nullable }] of Object.entries<Json>(update.fields)) {
      const value = field in EXTREMES ? EXTREMES[field] : full[field]
      const together = pick(full, TOGETHER[field] ?? [])
      const none = Object.fromEntries([field, ...Object.keys(together)].map(key => [key, null]))
      const bodies = [{ [field]: value, ...together }, ...(nullable ? [none] : [])]
      for (const one of bodies) {
        const { status, body: answer } = await send(operation, one)
        t.equal(status, 200, `${name}: ${JSON.stringify(one)} ${answer.error?.message ?? ''}`)
      }
    }
  }
})
