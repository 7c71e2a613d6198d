import { validationError } from '../web/errors.ts'

/**
 * The values of a list filter: one, or several separated by commas; null when the filter is absent. Throws a 400 for
 * a value outside the enumeration (decisions 1.5).
 */
export function parseFilter<T extends string>(
  name: string,
  text: string | undefined,
  allowed: readonly T[],
): T[] | null {
  if (text === undefined) return null
  return text.split(',').map(item => {
    const value = allowed.find(one => one === item.trim())
    if (!value) throw validationError([{ path: name, message: `${name} has to be one of ${allowed.join(', ')}` }])
    return value
  })
}
