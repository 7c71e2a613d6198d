import type { Test } from 'tap'
import { MASK } from '../../shared/secret-names.ts'
import { type Answer, startApi } from './api-server.ts'
import { buildBody } from './bodies.ts'
import { forEachRow } from './for-each-row.ts'
import { HOSTILE_TEXTS, isUnstorable } from './hostile-texts.ts'
import { type Operation, readOperations } from './operations.ts'
import { startReceiver } from './receiver.ts'
import { buildAddress, createRecords } from './records.ts'
import type { Teardown } from './teardown.ts'
import { listTextFields, type Place, toPlaceName, valueAt, withTextAt } from './text-fields.ts'

type TextTable = {
  /** all writes with a body */
  operations: Operation[]
  listFields(operation: Operation): Place[]
  /** sends each hostile text in each text field of an operation */
  attack(t: Test, operation: Operation): Promise<void>
}

const AT_ONCE = 6

/** Texts that a write accepts but does not store: normalized texts, or an unknown id. */
const NOT_KEPT = /(^|[.\]])(id|created_at|updated_at)$|child_monitors/
/** Fields that refer to another record. */
const REFERS = /_ids?(\[0\])?$|fields\[0\]\.id$|slug$/
/** An import has the schemas of all routes, so each of its fields gets only one of this number of texts. */
const SHARE_OF_FILES = 9

/** A change of a record that another request is changing is a 409; a project rehearses one after the other. */
const isAlone = ({ isOpen, name }: Operation) =>
  isOpen || name === 'PUT /dependencies/{id}' || name === 'POST /monitors/{id}/rehearse'
const isFile = ({ path }: Operation) => path === '/import'

/** Returns what is wrong with an answer; null when the text was refused or returned unchanged. */
function complaintAbout({ status, headers, body }: Answer, field: Place, text: string): string | null {
  const sniffed = headers.get('x-content-type-options')
  if (!headers.get('content-type')?.startsWith('application/json') || sniffed !== 'nosniff')
    return 'may be read as a page'
  if (status === 400 && body.error.code === 'validation_error') return null
  if (status === 404 && REFERS.test(toPlaceName(field))) return null
  if (status >= 300) return `answered ${status} ${JSON.stringify(body.error)}`
  if (isUnstorable(text)) return `took what cannot be stored`
  const back = valueAt(body.data, field)
  const isKept = back === undefined || back === text || back === MASK || NOT_KEPT.test(toPlaceName(field))
  return isKept ? null : `came back as ${JSON.stringify(back)}`
}

function buildRows(operation: Operation, fields: Place[]) {
  const texts = Object.entries(HOSTILE_TEXTS)
  const isTaken = (field: number, text: number) => !isFile(operation) || (field + text) % SHARE_OF_FILES === 0
  return fields.flatMap((field, f) => texts.filter((_, i) => isTaken(f, i)).map(row => [field, ...row] as const))
}

/** Every text field of every write of the OpenAPI document × hostile texts. New routes are included automatically. */
export async function startTextTable(t: Teardown): Promise<TextTable> {
  const api = await startApi(t, {
    RATE_LIMIT_PER_MINUTE: '1000000',
    RATE_LIMIT_PER_PROJECT: '1000000',
    TESTS_PER_MINUTE: '1000000',
  })
  const { operations } = await readOperations(api)
  const receiver = await startReceiver(t)
  const tenant = await api.tenant('business')
  const records = await createRecords(api, tenant)
  const listFields = (operation: Operation) => listTextFields(operation.body, bodyFor(operation))

  function bodyFor(operation: Operation): Record<string, unknown> {
    const body = buildBody(operation, records)
    // documents that are fetched immediately come from a receiver that answers
    if (operation.path === '/dependencies/test') return { ...body, feed_url: receiver.url }
    return operation.path === '/data-sources/preview' ? { ...body, url: receiver.url } : body
  }

  async function send(operation: Operation, field: Place, text: string): Promise<Answer> {
    if (operation.isOpen) await api.db.raw('DELETE FROM bootstrap_attempts')
    const address = buildAddress(operation, records) + (isFile(operation) ? '?dry_run=true' : '')
    const whole = withTextAt(bodyFor(operation), field, text)
    const body = isFile(operation) ? { version: whole.version, [field[0]!]: whole[field[0]!] } : whole
    return api.call(operation.method, address, { key: operation.isOpen ? null : tenant.key, body })
  }

  /** Deletes what a create made, so that no limit is reached. */
  async function undo(operation: Operation, { status, body }: Answer): Promise<void> {
    const { method, path } = operation
    const isUndone = operations.some(one => one.method === 'DELETE' && one.path.startsWith(`${path}/{`))
    if (method !== 'POST' || status !== 201 || !isUndone) return
    await api.call('DELETE', `${buildAddress(operation, records)}/${body.data.id}`, { key: tenant.key })
  }

  return {
    operations: operations.filter(({ body }) => body !== null),
    listFields,
    async attack(t, operation) {
      const complaints: string[] = []
      const rows = buildRows(operation, listFields(operation))
      await forEachRow(rows, isAlone(operation) ? 1 : AT_ONCE, async ([field, what, text]) => {
        const answer = await send(operation, field, text)
        const complaint = complaintAbout(answer, field, text)
        if (complaint) complaints.push(`${toPlaceName(field)}: ${what}: ${complaint}`)
        await undo(operation, answer)
      })
      t.same(complaints, [])
    },
  }
}

/** Operations whose rows take as long as all others together. They have their own test file. */
export const isLong = ({ path }: Operation): boolean =>
  /^\/(import|data-sources|dependencies|maintenance-windows)(\/|$)/.test(path)

/** The assertion for each operation. */
export const describePromise = ({ name }: Operation): string =>
  `${name} answers each hostile text as it was sent, or refuses it as input`
