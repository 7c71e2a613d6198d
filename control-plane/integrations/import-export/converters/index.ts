import { validationError } from '../../../foundation/web/server/errors.ts'
import { type FindFaults, toErrorDetails } from '../../../foundation/web/validation/validation-errors.ts'
import { ProjectFile } from '../file/project-file.ts'
import { type ConvertedFile, type Converter, isRecord } from './foreign-file.ts'
import { convertGatus } from './gatus/convert.ts'
import { convertUptimeKuma } from './uptime-kuma/convert.ts'
import { dropInvalidEntries } from './valid-entries.ts'

/** The registry: a new product is a folder and a line here. */
const CONVERTERS = {
  'uptime-kuma': convertUptimeKuma,
  gatus: convertGatus,
} satisfies Record<string, Converter>

export type ForeignProduct = keyof typeof CONVERTERS

/** Where a file may come from. */
export const IMPORT_SOURCES = ['picket', ...(Object.keys(CONVERTERS) as ForeignProduct[])] as const

/** Which other product a body reads like, told to whoever forgot to say so; null for none. */
export function detectProduct(body: unknown): ForeignProduct | null {
  if (!isRecord(body)) return null
  if (Array.isArray(body.monitorList)) return 'uptime-kuma'
  return Array.isArray(body.endpoints) ? 'gatus' : null
}

/** Throws 400 for what is no file of that product. What is in it and cannot be in ours is in the warnings. */
export function parseForeignFile(source: ForeignProduct, body: unknown, findFaults: FindFaults): ConvertedFile {
  const converted = CONVERTERS[source](body)
  const { file, warnings } = dropInvalidEntries(converted.file, findFaults)
  const faults = findFaults(ProjectFile, file)
  if (faults.length > 0) throw validationError(toErrorDetails(faults, 'file'))
  return { file, warnings: [...converted.warnings, ...warnings] }
}
