import { type ErrorDetail, validationError } from '../../../foundation/web/server/errors.ts'
import { type FindFaults, toErrorDetails } from '../../../foundation/web/validation/validation-errors.ts'
import { ProjectFile } from '../file/project-file.ts'
import { addEntryNames } from '../file/references.ts'
import { type ConvertedFile, type Converter, isRecord } from './foreign-file.ts'
import { convertGatus } from './gatus/convert.ts'
import { convertUptimeKuma } from './uptime-kuma/convert.ts'
import { dropInvalidEntries } from './valid-entries.ts'

/** The registry of converters. A new product is a folder and a line here. */
const CONVERTERS = {
  'uptime-kuma': convertUptimeKuma,
  gatus: convertGatus,
} satisfies Record<string, Converter>

export type ForeignProduct = keyof typeof CONVERTERS

/** The values of `from`. */
export const IMPORT_SOURCES = ['picket', ...(Object.keys(CONVERTERS) as ForeignProduct[])] as const

/** Returns the product that a body looks like, for the error message when `from` is missing; null for none. */
function detectProduct(body: unknown): ForeignProduct | null {
  if (!isRecord(body)) return null
  if (Array.isArray(body.monitorList)) return 'uptime-kuma'
  return Array.isArray(body.endpoints) ? 'gatus' : null
}

/** What is wrong with a body that is not a valid Picket file. */
export function listFileProblems(body: unknown, findFaults: FindFaults): ErrorDetail[] {
  const foreign = detectProduct(body)
  if (foreign === null) return addEntryNames(toErrorDetails(findFaults(ProjectFile, body), 'body'), body)
  const message = `the body is not a Picket file; it looks like a file of ${foreign}: set from=${foreign}`
  return [{ path: '', message }]
}

/** Converts a file of a product. Throws 400 when the body is not a file of that product. */
export function parseForeignFile(source: ForeignProduct, body: unknown, findFaults: FindFaults): ConvertedFile {
  const converted = CONVERTERS[source](body)
  const { file, warnings } = dropInvalidEntries(converted.file, findFaults)
  const faults = findFaults(ProjectFile, file)
  if (faults.length > 0) throw validationError(toErrorDetails(faults, 'file'))
  return { file, warnings: [...converted.warnings, ...warnings] }
}
