import { isSensitiveName, MASK } from '../../../foundation/web/masked-secrets/header-map.ts'
import type { ErrorDetail } from '../../../foundation/web/server/errors.ts'

/** Masks the values of a config whose name says that they are secrets. */
export function maskSecrets<Config extends object>(config: Config): Config {
  const shown = Object.entries(config).map(([name, value]) => [name, isSensitiveName(name) ? MASK : value])
  return Object.fromEntries(shown) as Config
}

/** Replaces masks in a config that was sent back by the stored values. Returns `problems` for masks without a stored value. */
export function unmaskSecrets<Config extends object>(sent: Config, stored: object, path: string) {
  const known = new Map(Object.entries(stored))
  const masked = Object.entries(sent).flatMap(([name, value]) =>
    value === MASK && isSensitiveName(name) ? [name] : [],
  )
  const kept = masked.map(name => [name, known.get(name) ?? MASK])
  const problems: ErrorDetail[] = masked
    .filter(name => !known.has(name))
    .map(name => ({ path: `${path}.${name}`, message: `${name} is masked, but no value is stored; send the value` }))
  return { config: { ...sent, ...Object.fromEntries(kept) } as Config, problems }
}
