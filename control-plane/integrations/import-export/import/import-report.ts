import { ApiError, type ErrorDetail } from '../../../foundation/web/server/errors.ts'
import { joinPath } from '../../../foundation/web/validation/validation-errors.ts'
import type { FieldChange } from '../fields/fields.ts'
import type { ProjectFile } from '../file/project-file.ts'
import { addEntryNames, beginWithName } from '../file/references.ts'

export const IMPORT_ACTIONS = ['create', 'update', 'delete'] as const
export const RESOURCE_KINDS = [
  'alert_settings',
  'alert_channel',
  'alert_subscription',
  'monitor',
  'alert_rule',
  'maintenance_window',
  'data_source',
  'data_source_field',
  'dependency',
  'status_page',
  'status_page_group',
  'status_page_component',
] as const
export type ResourceKind = (typeof RESOURCE_KINDS)[number]

export type ImportChange = {
  action: (typeof IMPORT_ACTIONS)[number]
  resource: ResourceKind
  /** name for people: "Shop", "Shop → Ops" */
  key: string
  /** null: it does not exist yet */
  id: string | null
  fields: Record<string, FieldChange>
}

/** Something in a file that was not carried over. */
export type ImportWarning = { path: string; message: string }

/** The changes of an import, collected while it runs. */
export type ImportReport = {
  changes: ImportChange[]
  warnings: ImportWarning[]
  /** refused entries, with their paths in the file */
  refusals: { path: string; error: ApiError }[]
  unchanged: number
  /** the unchanged records, for plans that list every entry; subscriptions are only counted */
  unchangedRecords: Pick<ImportChange, 'resource' | 'key' | 'id'>[]
  /** entries that were examined, for the progress of a job */
  steps: number
  /** records that the file does not name, and that are kept */
  extra: number
  /** yields to other work of the process */
  pause: () => Promise<void>
}

export const createImportReport = (pause: ImportReport['pause']): ImportReport => ({
  ...{ changes: [], warnings: [], refusals: [], unchanged: 0, unchangedRecords: [], steps: 0, extra: 0 },
  pause,
})

/** Records an update or an unchanged record. Returns true for an update. */
export function recordUpdate(report: ImportReport, change: Omit<ImportChange, 'action'>): boolean {
  const differs = Object.keys(change.fields).length > 0
  if (differs) report.changes.push({ action: 'update', ...change })
  else {
    report.unchanged++
    const { resource, key, id } = change
    report.unchangedRecords.push({ resource, key, id })
  }
  return differs
}

/** Runs one step of an import. A refusal is recorded with its path and returns null, so that the import continues. */
export async function attempt<T>(
  report: Pick<ImportReport, 'refusals' | 'pause' | 'steps'>,
  path: string,
  work: () => Promise<T> | T,
): Promise<T | null> {
  report.steps++
  await report.pause()
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    report.refusals.push({ path, error })
    return null
  }
}

/** The order in which a request would be refused. */
const STATUS_ORDER = [400, 404, 402, 403, 409]

/** Builds one error from all refusals, with their paths in its details. */
export function buildImportError(refusals: ImportReport['refusals'], file: ProjectFile): ApiError {
  const rank = ({ error }: ImportReport['refusals'][number]) => STATUS_ORDER.indexOf(error.status)
  const [first] = refusals.toSorted((a, b) => rank(a) - rank(b))
  const details = addEntryNames(refusals.flatMap(listDetails), file)
  const more = details.length === 1 ? '' : ` (and ${details.length - 1} more)`
  const [detail] = addEntryNames(listDetails(first!), file)
  return new ApiError(first!.error.status, first!.error.code, `${detail!.message}${more}`, { details })
}

/** The end of each warning that says that a monitor, channel or window of the file is not imported. */
export const LEFT_OUT = '; it was left out'
/** The end of each warning of a monitor one of whose alert rules is not imported. */
export const RULE_LEFT_OUT = '; its alert rule was left out'

/** Whether a record of the file is not imported, so that its stored record must not be deleted as one without an entry. */
export const isLeftOutRecord = ({ message }: ImportWarning): boolean =>
  message.endsWith(LEFT_OUT) || message.endsWith(RULE_LEFT_OUT)

/**
 * Turns refusals because of the file into warnings. Refusals because of the plan or the key stay. A warning names the entry
 * (`Shop: …`), because the converted file with its paths is not that of the person.
 */
export function downgradeToWarnings(report: ImportReport, file: ProjectFile): void {
  const isOfFile = ({ error }: ImportReport['refusals'][number]) => [400, 404, 409].includes(error.status)
  const details = report.refusals.filter(isOfFile).flatMap(listDetails)
  report.warnings.push(
    ...details.map(({ path, message }) => ({ path, message: `${beginWithName(message, file)}${LEFT_OUT}` })),
  )
  report.refusals = report.refusals.filter(refusal => !isOfFile(refusal))
}

function listDetails({ path, error }: ImportReport['refusals'][number]): ErrorDetail[] {
  const inner = error.extra.details ?? [{ path: '', message: error.message }]
  return inner.map(detail => {
    const place = detail.path === '' ? path : joinPath(path, detail.path, false)
    return { path: place, message: `${path}: ${detail.message}` }
  })
}
