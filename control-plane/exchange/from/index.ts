import { validationError } from '../../web/errors.ts'
import { detailsOf, type FindFaults } from '../../web/validation.ts'
import { ProjectFile } from '../document.ts'
import { convertGatus } from './gatus/convert.ts'
import { withoutFaulty } from './lenient.ts'
import { type Convert, type Converted, isSource } from './source.ts'
import { convertUptimeKuma } from './uptime-kuma/convert.ts'

/** The registry: a new product is a folder and a line here. */
const CONVERTERS = {
  'uptime-kuma': convertUptimeKuma,
  gatus: convertGatus,
} satisfies Record<string, Convert>

export type Foreign = keyof typeof CONVERTERS

/** Where a file may come from. */
export const SOURCES = ['picket', ...(Object.keys(CONVERTERS) as Foreign[])] as const

/** Which other product a body reads like, told to whoever forgot to say so; null for none. */
export function foreignOf(body: unknown): Foreign | null {
  if (!isSource(body)) return null
  if (Array.isArray(body.monitorList)) return 'uptime-kuma'
  return Array.isArray(body.endpoints) ? 'gatus' : null
}

/** Throws 400 for what is no file of that product. What is in it and cannot be in ours is in the warnings. */
export function readSource(source: Foreign, body: unknown, findFaults: FindFaults): Converted {
  const converted = CONVERTERS[source](body)
  const { file, warnings } = withoutFaulty(converted.file, findFaults)
  const faults = findFaults(ProjectFile, file)
  if (faults.length > 0) throw validationError(detailsOf(faults, 'file'))
  return { file, warnings: [...converted.warnings, ...warnings] }
}
