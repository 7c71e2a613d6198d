import type { ErrorDetail } from '../../../foundation/web/server/errors.ts'
import { countValues, type SchemaCheck, toErrorDetails } from '../../../foundation/web/validation/validation-errors.ts'

/** All faults are reported of faulty items that hold so many values together; of the others, each item's first fault. */
const MAX_VALUES = 5_000

/** What the schema of a monitor finds in each item of a bulk create, at the item's place; nothing where it is good. */
export function findItemProblems(items: readonly unknown[], check: SchemaCheck): ErrorDetail[][] {
  let left = MAX_VALUES
  return items.map(item => {
    if (check(item, left)) return []
    left -= countValues(item, left)
    return toErrorDetails(check.errors ?? [], 'monitor')
  })
}
