import { type ChannelType, type CheckLiteral, kindOf } from '../channels/index.ts'
import type { Detail } from '../web/errors.ts'
import { MASK } from '../web/header-map.ts'
import { detailsOf, type FindFaults, joinPath } from '../web/validation.ts'

type Config = Record<string, unknown>
export type ConfigTools = { findFaults: FindFaults; checkLiteral: CheckLiteral }

const MAX_CHARACTERS = 65_536

/** Where a config holds masks instead of values: `config.headers.Authorization`. */
export function maskedPlaces(value: unknown, path: string): string[] {
  if (value === MASK) return [path]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => maskedPlaces(inner, joinPath(path, key, Array.isArray(value))))
}

/**
 * The config of a channel as it is to be stored: masks that were sent back are replaced by what is stored. `problems`
 * says all that is wrong with it, in the shape of its kind or in its values.
 */
export function acceptConfig(
  type: ChannelType,
  sent: Config,
  stored: Config | null,
  { findFaults, checkLiteral }: ConfigTools,
): { config: Config; problems: Detail[] } {
  const kind = kindOf(type)
  const faults = findFaults(kind.schema, sent)
  if (faults.length > 0) {
    const below = faults.map(fault => ({ ...fault, instancePath: `/config${fault.instancePath}` }))
    return { config: sent, problems: detailsOf(below, 'body') }
  }
  if (JSON.stringify(sent).length > MAX_CHARACTERS) {
    return {
      config: sent,
      problems: [{ path: 'config', message: `config has more than ${MAX_CHARACTERS} characters` }],
    }
  }
  const { config, problems } = kind.unmask(sent, stored)
  return { config, problems: [...problems, ...kind.problems(config, checkLiteral)] }
}
