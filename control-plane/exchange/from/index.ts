import { validationError } from '../../web/errors.ts'
import type { FindFaults } from '../../web/validation.ts'
import { detailsOf } from '../../web/validation.ts'
import { ProjectFile } from '../document.ts'
import type { Warning } from '../ledger.ts'

/** A file of another product, in Picket's form. What could not be carried over is in the warnings, each with its place. */
export type Converted = { file: ProjectFile; warnings: Warning[] }
/** Throws 400 for what is no file of that product. */
export type Convert = (source: unknown) => Converted

const CONVERTERS = {} satisfies Record<string, Convert>

/** Where a file may come from. */
export const SOURCES = ['picket', 'uptime-kuma', 'gatus'] as const
type Source = Exclude<(typeof SOURCES)[number], 'picket'>

/** Throws 400 for what is no file of that product, and for what is in it and cannot be in ours. */
export function readSource(source: Source, body: unknown, findFaults: FindFaults): Converted {
  const converted = (CONVERTERS as Record<Source, Convert>)[source](body)
  const faults = findFaults(ProjectFile, converted.file)
  if (faults.length > 0) throw validationError(detailsOf(faults, 'file'))
  return converted
}
