import { Validator } from '@seriousme/openapi-schema-validator'
import t from 'tap'
import { findAnswerDifferences } from '../support/answers.ts'
import { startApi } from '../support/api-server.ts'
import { buildBody } from '../support/bodies.ts'
import { type Operation, readOperations } from '../support/operations.ts'
import { makeOperator } from '../support/operator.ts'
import { startReceiver } from '../support/receiver.ts'
import { buildAddress, createRecords, PIXEL, type Records } from '../support/records.ts'
import { waitFor } from '../support/wait.ts'

const api = await startApi(t, { ROLES: 'api,deliver', RATE_LIMIT_PER_MINUTE: '1000000' })
const { operations, document } = await readOperations(api)

t.test('/openapi.json is valid OpenAPI', async t => {
  t.match(await new Validator().validate(document), { valid: true })
})

/** The order in which all operations can succeed: reads and changes before deletions, children before parents. */
const ENDS = [
  /^POST .*pause/,
  /^DELETE .*(rules|project-channels|silences)/,
  /^DELETE .*(channels|components|groups|subscribers|custom-domain|fields)/,
  /^DELETE/,
]
const rank = ({ name }: Operation) => ENDS.findIndex(pattern => pattern.test(name))

/**
 * Redirects, and operations that are refused here: Domain Connect is not configured, no installation of the chat app
 * was started, the team removed the existing one, and a key has no preferences.
 */
const OTHER_ANSWERS: Record<string, number> = {
  'POST /status-pages/{id}/custom-domain/domain-connect': 422,
  'GET /chat/oauth/install': 302,
  'GET /chat/oauth/callback': 400,
  'GET /chat/installations/{id}/channels': 409,
  'PUT /me/preferences': 409,
  'POST /imports': 202,
  'POST /imports/{id}/apply': 202,
}

/** A project has one import at a time. */
async function waitForImports(key: string): Promise<void> {
  const isIdle = async () => {
    const { body } = await api.call('GET', '/imports', { key })
    return body.data.every(({ status }: { status: string }) => ['ready', 'applied', 'failed'].includes(status))
  }
  await waitFor(isIdle, { label: 'no import under way' })
}

t.test('The success of each operation matches /openapi.json exactly', async t => {
  const account = await makeOperator(api.db, await api.tenant())
  const receiver = await startReceiver(t)
  const records = await createRecords(api, account, receiver.url)
  await waitFor(async () => {
    const { body } = await api.call('GET', `/alerts/log/${records.log_id}`, { key: account.key })
    return body.data.status === 'delivered'
  })
  for (const operation of [...operations].sort((a, b) => rank(a) - rank(b))) {
    if (/^(POST|DELETE) \/imports/.test(operation.name)) await waitForImports(account.key)
    const { status, body, headers } = await send(operation, account.key, records)
    const other = OTHER_ANSWERS[operation.name]
    const isGood = other ? status === other : status === 200 || status === 201
    t.ok(isGood, `${operation.name} answered ${status} ${JSON.stringify(body.error ?? '')}`)
    if (isJson(headers)) t.same(findAnswerDifferences(operation, status, body), [], operation.name)
  }
})

t.test('The errors of each operation match /openapi.json', async t => {
  const account = await api.tenant()
  const records = await createRecords(api, account)
  for (const operation of operations) {
    const { status, body } = await send(operation, 'no key', records, { email: 'no address' })
    t.equal(status, operation.isOpen ? 400 : 401)
    t.same(findAnswerDifferences(operation, status, body), [], operation.name)
  }
})

const isJson = (headers: Headers) => headers.get('content-type')?.startsWith('application/json') === true

async function send(operation: Operation, key: string, records: Records, body?: object) {
  const fresh = createsPair(operation) ? await newPair(key) : records
  // an export is YAML unless JSON is requested
  const asJson = operation.name === 'GET /export' ? '?format=json' : ''
  return api.call(operation.method, `${buildAddress(operation, records)}${asJson}`, {
    key: operation.isOpen ? null : key,
    ...(operation.body && { body: body ?? buildBody(operation, fresh) }),
    ...(operation.upload && { body: PIXEL, headers: { 'content-type': operation.upload } }),
  })
}

/** A second rule for the same monitor and channel is a 409, so each new rule needs another pair. */
const createsPair = ({ name }: Operation) => name === 'POST /alerts/rules'

async function newPair(key: string) {
  const { body } = await api.call('POST', '/monitors', { key, body: { name: 'Another', type: 'http' } })
  const { body: channels } = await api.call('GET', '/alerts/channels', { key })
  return { monitor_id: body.data?.id, alert_channel_id: channels.data?.[0]?.id } as Records
}
