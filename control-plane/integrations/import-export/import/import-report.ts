import { ApiError, type ErrorDetail } from '../../../foundation/web/server/errors.ts'
import { joinPath } from '../../../foundation/web/validation/validation-errors.ts'
import type { FieldChange } from '../fields/fields.ts'
import type { ProjectFile } from '../file/project-file.ts'
import { addEntryNames } from '../file/references.ts'

export const IMPORT_ACTIONS = ['create', 'update', 'delete'] as const
export const RESOURCE_KINDS = [
  'alert_settings',
  'alert_channel',
  'alert_subscription',
  'monitor',
  'alert_rule',
  'maintenance_window',
  'data_source',
  'dependency',
  'status_page',
  'status_page_group',
  'status_page_component',
] as const
export type ResourceKind = (typeof RESOURCE_KINDS)[number]

export type ImportChange = {
  action: (typeof IMPORT_ACTIONS)[number]
  resource: ResourceKind
  /** what people call it: "Shop", "Shop → Ops" */
  key: string
  /** null: it is not there yet */
  id: string | null
  fields: Record<string, FieldChange>
}

/** Something that a file says and that was not carried over. */
export type ImportWarning = { path: string; message: string }

/** What an import does, written down as it goes. */
export type ImportReport = {
  changes: ImportChange[]
  warnings: ImportWarning[]
  /** what the caller may not, with its place in the file */
  refusals: { path: string; error: ApiError }[]
  unchanged: number
  /** records that the file does not name and that stay */
  extra: number
  /** between pieces of work: the process has other things to do than a large import */
  pause: () => Promise<void>
}

export const createImportReport = (pause: ImportReport['pause']): ImportReport => ({
  ...{ changes: [], warnings: [], refusals: [], unchanged: 0, extra: 0 },
  pause,
})

/** Writes down an update, or that there is nothing to do. True when there is. */
export function recordUpdate(ledger: ImportReport, change: Omit<ImportChange, 'action'>): boolean {
  const differs = Object.keys(change.fields).length > 0
  if (differs) ledger.changes.push({ action: 'update', ...change })
  else ledger.unchanged++
  return differs
}

/** Does one piece of an import. What the caller may not is written down with its place, and the rest goes on: null. */
export async function attempt<T>(
  ledger: Pick<ImportReport, 'refusals' | 'pause'>,
  path: string,
  work: () => Promise<T> | T,
): Promise<T | null> {
  await ledger.pause()
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    ledger.refusals.push({ path, error })
    return null
  }
}

/** In the order in which a request would be refused (decisions 1.5). */
const STATUS_ORDER = [400, 404, 402, 403, 409]

/** All that was refused of a file as one error, whose details name each place. */
export function buildImportError(refusals: ImportReport['refusals'], file: ProjectFile): ApiError {
  const rank = ({ error }: ImportReport['refusals'][number]) => STATUS_ORDER.indexOf(error.status)
  const [first] = refusals.toSorted((a, b) => rank(a) - rank(b))
  const details = addEntryNames(refusals.flatMap(listDetails), file)
  const more = details.length === 1 ? '' : ` (and ${details.length - 1} more)`
  const [about] = addEntryNames(listDetails(first!), file)
  return new ApiError(first!.error.status, first!.error.code, `${about!.message}${more}`, { details })
}

/** What the file says and cannot be becomes warnings. What the plan or the key does not allow stays refused. */
export function downgradeToWarnings(ledger: ImportReport): void {
  const isOfFile = ({ error }: ImportReport['refusals'][number]) => [400, 404, 409].includes(error.status)
  const details = ledger.refusals.filter(isOfFile).flatMap(listDetails)
  ledger.warnings.push(...details.map(({ path, message }) => ({ path, message: `${message}; it was left out` })))
  ledger.refusals = ledger.refusals.filter(refusal => !isOfFile(refusal))
}

function listDetails({ path, error }: ImportReport['refusals'][number]): ErrorDetail[] {
  const inner = error.extra.details ?? [{ path: '', message: error.message }]
  return inner.map(detail => {
    const place = detail.path === '' ? path : joinPath(path, detail.path, false)
    return { path: place, message: `${path}: ${detail.message}` }
  })
}
