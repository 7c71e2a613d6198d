import { isSensitiveName, MASK } from '../../../foundation/web/masked-secrets/header-map.ts'
import type { ErrorDetail } from '../../../foundation/web/server/errors.ts'

/** A config whose values are masked where their name says that they are secrets: nothing else knows what they are. */
export function maskSecrets<Config extends object>(config: Config): Config {
  const shown = Object.entries(config).map(([name, value]) => [name, isSensitiveName(name) ? MASK : value])
  return Object.fromEntries(shown) as Config
}

/** A config that was sent back with the stored values in place of masks; `problems` where none is stored. */
export function unmaskSecrets<Config extends object>(sent: Config, stored: object, path: string) {
  const known = new Map(Object.entries(stored))
  const masked = Object.entries(sent).flatMap(([name, value]) =>
    value === MASK && isSensitiveName(name) ? [name] : [],
  )
  const kept = masked.map(name => [name, known.get(name) ?? MASK])
  const problems: ErrorDetail[] = masked
    .filter(name => !known.has(name))
    .map(name => ({ path: `${path}.${name}`, message: `there is no stored value of ${name} to keep; send the value` }))
  return { config: { ...sent, ...Object.fromEntries(kept) } as Config, problems }
}
