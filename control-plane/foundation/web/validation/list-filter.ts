import { validationError } from '../server/errors.ts'

/**
 * A list filter that takes one value or several separated by commas; null when it is not asked for. A value outside
 * the enumeration is a 400 that names the allowed ones (decisions 1.5).
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
  throw validationError([{ path, message: `${path} "${wrong}" is not one of ${allowed.join(', ')}` }])
}
