import { validationError } from '../server/errors.ts'

/**
 * A list filter with one value or several separated by commas; null when it is absent. A value outside the enumeration is
 * a 400 that names the allowed ones.
 */
export function parseListFilter<T extends string>(
  path: string,
  value: string | undefined,
  allowed: readonly T[],
): T[] | null {
  if (value === undefined) return null
  const values = value.split(',')
  const wrong = values.find(one => !(allowed as readonly string[]).includes(one))
  if (wrong === undefined) return values as T[]
  throw validationError([{ path, message: `${path} must be one of ${allowed.join(', ')}, not "${wrong}"` }])
}
