import { isSensitiveName, MASK } from '../../../foundation/web/masked-secrets/header-map.ts'
import type { ErrorDetail } from '../../../foundation/web/server/errors.ts'

/** Masks the values of a config whose name says that they are secrets, also within objects and lists. */
export const maskSecrets = <Config extends object>(config: Config): Config => maskValue(config) as Config

function maskValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskValue)
  if (!isObject(value)) return value
  return mapEntries(value, (name, inner) => (isSensitiveName(name) ? MASK : maskValue(inner)))
}

/**
 * Replaces masks in a config that was sent back by the stored values at the same places. Returns `problems` for masks
 * without a stored value.
 */
export function unmaskSecrets<Config extends object>(sent: Config, stored: object, path: string) {
  const problems: ErrorDetail[] = []
  const unmask = (value: unknown, known: unknown, at: string): unknown => {
    if (Array.isArray(value)) {
      return value.map((inner, i) => unmask(inner, Array.isArray(known) ? known[i] : undefined, `${at}[${i}]`))
    }
    if (!isObject(value)) return value
    const ofName = new Map(isObject(known) ? Object.entries(known) : [])
    return mapEntries(value, (name, inner) => {
      if (inner !== MASK || !isSensitiveName(name)) return unmask(inner, ofName.get(name), `${at}.${name}`)
      if (ofName.has(name)) return ofName.get(name)
      const message = `${name} is masked, but no value is stored; send the value`
      problems.push({ path: `${at}.${name}`, message })
      return inner
    })
  }
  return { config: unmask(sent, stored, path) as Config, problems }
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const mapEntries = (value: object, change: (name: string, inner: unknown) => unknown) =>
  Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(name, inner)]))
