import type { Detail } from '../web/errors.ts'
import { type Check, countValues, detailsOf } from '../web/validation.ts'

/** All faults are reported of faulty items that hold so many values together; of the others, each item's first fault. */
const MOST_VALUES = 5_000

/** What the schema of a monitor finds in each item of a bulk create, at the item's place; nothing where it is good. */
export function faultsOfItems(items: readonly unknown[], check: Check): Detail[][] {
  let left = MOST_VALUES
  return items.map(item => {
    if (check(item, left)) return []
    left -= countValues(item, left)
    return detailsOf(check.errors ?? [], 'monitor')
  })
}
