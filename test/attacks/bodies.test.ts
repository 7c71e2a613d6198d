import t, { type Test } from 'tap'
import { startApi } from '../support/api-server.ts'
import { buildAlternativeBodies, buildBody } from '../support/bodies.ts'
import { type Fault, listFaults } from '../support/faults.ts'
import { type Operation, readOperations } from '../support/operations.ts'
import { makeOperator } from '../support/operator.ts'
import { buildAddress, createRecords } from '../support/records.ts'
import { readTables } from '../support/stored.ts'

// takes about 25 s

const api = await startApi(t, { RATE_LIMIT_PER_MINUTE: '1000000' })
const account = await makeOperator(api.db, await api.tenant())
const records = await createRecords(api, account)
const { operations } = await readOperations(api)
const withBody = operations.filter(({ body }) => body !== null)

let stored = await readTables(api.db)
/** Each test begins with what the one before has left. */
async function assertNothingStored(t: Test) {
  const before = stored
  stored = await readTables(api.db)
  t.same(stored, before)
}
const forgetRefusals = () => api.db.raw('DELETE FROM bootstrap_attempts')

function send(operation: Operation, body: string, headers = {}) {
  const key = operation.isOpen ? null : account.key
  return api.call(operation.method, buildAddress(operation, records), { key, body, headers })
}

type Refusal = { status: number; code: string; message: string; details: { path: string; message: string }[] }

/** The problem of an error response; null when it is correct. */
function complaintAbout(status: number, refusal: Refusal | undefined, path: string): string | null {
  if (status !== 400 || refusal?.status !== 400 || refusal.code !== 'validation_error') return `answered ${status}`
  const { details, message } = refusal
  if (!details.some(detail => detail.path === path)) return `points at ${details.map(detail => detail.path).join(', ')}`
  const sentences = [message, ...details.map(detail => detail.message)]
  // texts of the validation library or of JavaScript instead of a sentence
  const poor = sentences.find(
    sentence => !/^\S.* \S/.test(sentence) || /NOT|undefined|\[object|must match/.test(sentence),
  )
  return poor === undefined ? null : `says "${poor}"`
}

for (const operation of withBody.filter(({ name }) => name !== 'POST /monitors/bulk')) {
  t.test(`${operation.name} 400 names the invalid field of a body and stores nothing`, async t => {
    const bodies = [buildBody(operation, records), ...buildAlternativeBodies(operation, records)]
    const faults = bodies.flatMap(body => listFaults(operation.body, body))
    t.ok(faults.length > 10, `${faults.length} ways to be wrong`)
    const complaints: string[] = []
    for (const { what, path, text } of faults) {
      if (operation.isOpen) await forgetRefusals()
      const { status, body } = await send(operation, text)
      const complaint = complaintAbout(status, body.error, path)
      if (complaint) complaints.push(`${path || 'the body'}: ${what}: ${complaint}`)
    }
    t.same(complaints, [])
    await assertNothingStored(t)
  })
}

t.test('POST /monitors/bulk reports invalid items by index and stores nothing', async t => {
  const operation = withBody.find(({ name }) => name === 'POST /monitors/bulk')!
  const complaints: string[] = []
  const isOfItem = ({ path }: Fault) => path.startsWith('monitors[0]')
  for (const { what, path, text } of listFaults(operation.body, buildBody(operation, records))) {
    const { status, body } = await send(operation, text)
    const isReported = status === 201 && isOfItem({ what, path, text }) && body.monitors.length === 0
    const sentence = body.errors?.[0]?.error ?? ''
    const field = path.replace(/^monitors\[0\]\.?(headers\.)?/, '')
    const complaint = isReported
      ? sentence.includes(JSON.stringify(field).slice(1, -1)) && body.errors[0].index === 0
        ? null
        : `says "${sentence}"`
      : complaintAbout(status, body.error, path)
    if (complaint) complaints.push(`${path || 'the body'}: ${what}: ${complaint}`)
  }
  t.same(complaints, [])
  await assertNothingStored(t)
})

/** The body of an operation without a key. */
const OPEN_BODY_BYTES = 4_096

t.test(
  'Every operation with a body refuses invalid JSON, deep nesting, large bodies and other content types',
  async t => {
    const json = 'application/json'
    const rows: [string, string, string, number][] = [
      ['nothing', '', json, 400],
      ['broken JSON', '{"name":', json, 400],
      ['two documents', '{}{}', json, 400],
      ['NaN', '{"name":NaN}', json, 400],
      ['10,000 levels', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, json, 400],
      ['10,000 levels inside', `{"name":${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}}`, json, 400],
      ['1 MiB and a byte', `"${'x'.repeat(1024 * 1024 - 1)}"`, json, 413],
      ['a form', 'name=x', 'application/x-www-form-urlencoded', 415],
      ['text', '{}', 'text/plain', 415],
      ['no known type', '{}', 'nonsense', 415],
      ['another charset', '{}', `${json}; charset=iso-8859-1`, 415],
    ]
    const complaints: string[] = []
    for (const operation of withBody) {
      for (const [what, text, type, expected] of rows) {
        if (operation.isOpen) await forgetRefusals()
        const { status, body } = await send(operation, text, { 'content-type': type })
        const isTooLong = operation.isOpen && text.length > OPEN_BODY_BYTES
        if (status !== (isTooLong ? 413 : expected) || !body.error?.message)
          complaints.push(`${operation.name}: ${what}: ${status}`)
      }
    }
    t.same(complaints, [])
    await assertNothingStored(t)
  },
)
