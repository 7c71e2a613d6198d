import fc from 'fast-check'
import t from 'tap'
import { findAnswerDifferences } from '../support/answers.ts'
import { startApi } from '../support/api-server.ts'
import { createArbitrary, type KnownIds } from '../support/arbitrary.ts'
import { type Operation, readOperations } from '../support/operations.ts'
import { makeOperator } from '../support/operator.ts'
import { buildAddress, createRecords, getPathId, type Records } from '../support/records.ts'

// takes about 20 s

/** Requests for each operation; the two variables set another number and another seed, for a longer search. */
const RUNS = Number(process.env.PICKET_FUZZ_RUNS ?? 8)
const SEED = Number(process.env.PICKET_FUZZ_SEED ?? 7)

const api = await startApi(t, { RATE_LIMIT_PER_MINUTE: '1000000', TESTS_PER_MINUTE: '1000000' })
const { operations } = await readOperations(api)

const isDeletion = ({ method }: Operation) => method === 'DELETE'
/** Reads and changes of all records in random order, then deletions. */
const inTurn = [...operations.filter(one => !isDeletion(one)), ...operations.filter(isDeletion)]

type Asked = { id: string | null; query: Record<string, unknown>; body: unknown }

function buildRequests(operation: Operation, records: Records) {
  const ids: KnownIds = records
  const own = getPathId(operation, records)
  const somebodysId = fc.oneof(fc.uuid(), fc.string({ maxLength: 20 })).map(encodeURIComponent)
  const query = { type: 'object', properties: Object.fromEntries(operation.query.map(one => [one.name, one.schema])) }
  return fc.record<Asked>({
    id:
      own === null
        ? fc.constant(null)
        : fc.oneof({ weight: 5, arbitrary: fc.constant(own) }, { weight: 1, arbitrary: somebodysId }),
    query: createArbitrary(query, ids) as fc.Arbitrary<Record<string, unknown>>,
    body: operation.body ? createArbitrary(operation.body, ids) : fc.constant(undefined),
  })
}

async function send(operation: Operation, key: string, records: Records, { id, query, body }: Asked) {
  const [path] = buildAddress(operation, records, id).split('?')
  const pairs = Object.entries(query ?? {}).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  const address = `${path}?${new URLSearchParams(pairs as [string, string][])}`
  return api.call(operation.method, address, {
    key: operation.isOpen ? null : key,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(operation.upload && { body: 'no picture', headers: { 'content-type': operation.upload } }),
  })
}

t.test('No random request makes an operation fail or answer outside /openapi.json', async t => {
  const account = await makeOperator(api.db, await api.tenant())
  const records = await createRecords(api, account)
  for (const operation of inTurn) {
    const ask = async (asked: Asked) => {
      const { status, headers, body } = await send(operation, account.key, records, asked)
      const isJson = headers.get('content-type')?.startsWith('application/json')
      const differences = isJson ? findAnswerDifferences(operation, status, body) : []
      if (status >= 500 || differences.length > 0) {
        throw new Error(`${operation.name} answered ${status} ${JSON.stringify(body)} ${JSON.stringify(differences)}`)
      }
    }
    const property = fc.asyncProperty(buildRequests(operation, records), ask)
    const { failed, counterexample, errorInstance } = await fc.check(property, {
      numRuns: RUNS,
      seed: SEED,
      endOnFailure: true,
    })
    t.notOk(
      failed,
      failed ? `${(errorInstance as Error).message} to ${JSON.stringify(counterexample)}` : operation.name,
    )
  }
})
