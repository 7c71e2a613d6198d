import type { ErrorDetail } from '../../../foundation/web/server/errors.ts'
import { countValues, type SchemaCheck, toErrorDetails } from '../../../foundation/web/validation/validation-errors.ts'

/** All problems are reported for faulty items that have up to this many values together, and the first problem of each other item. */
const MAX_VALUES = 5_000

/** Validates each item of a bulk create against the schema of a monitor. Returns one list for each item, empty for a valid one. */
export function findItemProblems(items: readonly unknown[], check: SchemaCheck): ErrorDetail[][] {
  let left = MAX_VALUES
  return items.map(item => {
    if (check(item, left)) return []
    left -= countValues(item, left)
    return toErrorDetails(check.errors ?? [], 'monitor')
  })
}
