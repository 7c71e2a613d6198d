import type { Detail } from '../web/errors.ts'
import { detailsOf, type Fault } from '../web/validation.ts'

type ValidationError = { validation?: readonly object[] }

const ITEM = /^\/monitors\/(\d+)(?=\/|$)/

/**
 * What the schema found in the items of a bulk create, by their place, with paths inside the item. A fault of the
 * request itself (no list, too long a list) is thrown as it is.
 */
export function faultsByItem(error: (Error & ValidationError) | undefined): Map<number, Detail[]> {
  const faults = (error?.validation ?? []) as Fault[]
  if (faults.some(({ instancePath }) => !ITEM.test(instancePath))) throw error
  const indexes = new Set(faults.map(indexOf))
  return new Map(
    [...indexes].map(index => {
      const mine = faults.filter(fault => indexOf(fault) === index)
      return [index, detailsOf(mine.map(withoutItem), 'monitor')]
    }),
  )
}

const indexOf = (fault: Fault) => Number(ITEM.exec(fault.instancePath)?.[1])
const withoutItem = (fault: Fault): Fault => ({ ...fault, instancePath: fault.instancePath.replace(ITEM, '') })
