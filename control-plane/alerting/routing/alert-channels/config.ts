import { MASK } from '../../../foundation/web/masked-secrets/header-map.ts'
import type { ErrorDetail } from '../../../foundation/web/server/errors.ts'
import { type FindFaults, joinPath, toErrorDetails } from '../../../foundation/web/validation/validation-errors.ts'
import { type ChannelType, type CheckLiteral, getChannelKind } from '../../channels/registry.ts'

type Config = Record<string, unknown>
export type ConfigTools = { findFaults: FindFaults; checkLiteral: CheckLiteral }

const MAX_CONFIG_CHARACTERS = 65_536

/** Where a config holds masks instead of values: `config.headers.Authorization`. */
export function listMaskedPaths(value: unknown, path: string): string[] {
  if (value === MASK) return [path]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    listMaskedPaths(inner, joinPath(path, key, Array.isArray(value))),
  )
}

/**
 * The config of a channel as it is to be stored: masks that were sent back are replaced by what is stored. `problems`
 * says all that is wrong with it, in the shape of its kind or in its values.
 */
export function resolveConfig(
  type: ChannelType,
  sent: Config,
  stored: Config | null,
  { findFaults, checkLiteral }: ConfigTools,
): { config: Config; problems: ErrorDetail[] } {
  const kind = getChannelKind(type)
  const faults = findFaults(kind.schema, sent)
  if (faults.length > 0) {
    const below = faults.map(fault => ({ ...fault, instancePath: `/config${fault.instancePath}` }))
    return { config: sent, problems: toErrorDetails(below, 'body') }
  }
  if (JSON.stringify(sent).length > MAX_CONFIG_CHARACTERS) {
    return {
      config: sent,
      problems: [{ path: 'config', message: `config has more than ${MAX_CONFIG_CHARACTERS} characters` }],
    }
  }
  const { config, problems } = kind.unmask(sent, stored)
  return { config, problems: [...problems, ...kind.findProblems(config, checkLiteral)] }
}
