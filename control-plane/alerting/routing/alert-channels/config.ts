import { MASK } from '../../../foundation/web/masked-secrets/header-map.ts'
import type { ErrorDetail } from '../../../foundation/web/server/errors.ts'
import { type FindFaults, joinPath, toErrorDetails } from '../../../foundation/web/validation/validation-errors.ts'
import { type ChannelType, type CheckLiteral, getChannelKind } from '../../channels/registry.ts'

type Config = Record<string, unknown>
export type ConfigTools = { findFaults: FindFaults; checkLiteral: CheckLiteral }

const MAX_CONFIG_CHARACTERS = 65_536

/** The paths of masked values in a config, such as `config.headers.Authorization`. */
export function listMaskedPaths(value: unknown, path: string): string[] {
  if (value === MASK) return [path]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) =>
    listMaskedPaths(inner, joinPath(path, key, Array.isArray(value))),
  )
}

/**
 * The config of a channel to be stored. Masks that were sent back are replaced by the stored values. `problems` lists all
 * errors, of the schema of its kind or of its values.
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
      problems: [{ path: 'config', message: `config must have at most ${MAX_CONFIG_CHARACTERS} characters` }],
    }
  }
  const { config, problems } = kind.unmask(sent, stored)
  return { config, problems: [...problems, ...kind.findProblems(config, checkLiteral)] }
}
