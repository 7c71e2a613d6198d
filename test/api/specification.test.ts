import t from 'tap'
import { OPERATIONS } from '../specification/operations.ts'
import { startApi } from '../support/api-server.ts'
import { bodyOf } from '../support/bodies.ts'
import { type Operation, readOperations } from '../support/operations.ts'
import { addressOf, createRecords } from '../support/records.ts'

/** What the lists of the specification say of requests, tried one by one on a running API. */
const PUBLIC_URL = 'https://picket.example.com'
const api = await startApi(t, { RATE_LIMIT_PER_MINUTE: '1000000', PUBLIC_URL })
const mine = await api.tenant('business')
const records = await createRecords(api, mine)
const { operations } = await readOperations(api)
const operationOf = (name: string): Operation => operations.find(operation => operation.name === name)!
const specified = Object.keys(OPERATIONS).map(operationOf)

t.test('an API key sent to a wrong base address is 401, and the answer names the right one', async t => {
  const wrong = ['', '/api', '/v1', '/api/v2', '/api/v1.0']
  for (const operation of specified) {
    for (const base of wrong) {
      const body = operation.body ? bodyOf(operation, records) : undefined
      const address = `${api.origin}${base}${addressOf(operation, records)}`
      const answer = await api.call(operation.method, address, { key: mine.key, body })
      const error = { code: 'unauthorized', status: 401, message: new RegExp(`base address.* ${PUBLIC_URL}/api/v1$`) }
      t.match(answer, { status: 401, body: { error } }, `${operation.method} ${base}${operation.path}`)
    }
  }
})

t.test(
  'an address outside the API that is asked without an API key is 404, as is a public page that is not there',
  async t => {
    const Basic = `Basic ${Buffer.from('proxy:secret').toString('base64')}`
    t.equal((await api.call('GET', `${api.origin}/monitors`, { key: null })).status, 404)
    t.equal(
      (await api.call('GET', `${api.origin}/favicon.ico`, { key: null, headers: { authorization: Basic } })).status,
      404,
    )
    t.equal((await api.call('GET', `${api.origin}/status/nothing`, { key: mine.key })).status, 404)
    t.equal((await api.call('GET', '/nothing', { key: mine.key })).status, 404)
  },
)
