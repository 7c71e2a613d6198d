/** The rows of a document that is shown as a tree. Pure. */
import { formatPath } from '../../../../../integrations/data-sources/document/path.ts'
import { formatCount } from '../../../../core/format.ts'

export type DocumentSteps = readonly (string | number)[]

type TreeNode = {
  /** the path of the value, which identifies the row */
  id: string
  steps: DocumentSteps
  /** from 1 */
  level: number
  /** from 1, among `siblings` */
  place: number
  siblings: number
}

/** A value, an object or a list. `isOpen`: null for a value. */
type ValueRow = TreeNode & { kind: 'value'; name: string; text: string; type: ValueType; isOpen: boolean | null }

/** The entries of a long list that are not shown yet, as one row. `parent`: the id of the list. */
type MoreRow = TreeNode & { kind: 'more'; parent: string; left: number }

export type TreeRow = ValueRow | MoreRow

type ValueType = 'object' | 'list' | 'text' | 'number' | 'boolean' | 'null'

/** What a person has opened. `shown`: the number of entries of long lists, by id. */
export type TreeState = { open: ReadonlySet<string>; shown: ReadonlyMap<string, number> }

/** The entries of a list or an object that are shown at first, and that are added. */
export const ENTRIES_SHOWN = 100
const MAX_TEXT = 120
const MAX_FIRST_ROWS = 40

/** The rows in sight: the entries of what is open, in the order of the document. Whatever its depth, nothing else is visited. */
export function listTreeRows(root: unknown, { open, shown }: TreeState): TreeRow[] {
  const rows: TreeRow[] = []
  const waiting: (() => void)[] = []
  const add = (value: unknown, steps: DocumentSteps, place: number, siblings: number): void => {
    const row = buildRow(value, steps, place, siblings, open)
    rows.push(row)
    if (!row.isOpen) return
    const keys = listKeys(value)
    const count = shown.get(row.id) ?? ENTRIES_SHOWN
    const left = keys.length - count
    if (left > 0) {
      const position = { level: row.level + 1, place: count + 1, siblings: keys.length }
      waiting.push(() => rows.push({ kind: 'more', id: `${row.id} more`, parent: row.id, steps, left, ...position }))
    }
    // the stack is reversed: the first entry is taken first
    for (let i = Math.min(count, keys.length) - 1; i >= 0; i--) {
      const key = keys[i]!
      waiting.push(() => add(getEntry(value, key), [...steps, key], i + 1, keys.length))
    }
  }
  add(root, [], 1, 1)
  for (let next = waiting.pop(); next; next = waiting.pop()) next()
  return rows
}

/** The objects and lists that are open at first: the upper levels, as long as the rows fit on a screen. */
export function listFirstOpen(root: unknown): Set<string> {
  const open = new Set<string>()
  let count = 1
  const level: [unknown, DocumentSteps][] = [[root, []]]
  for (const [value, steps] of level) {
    const keys = listKeys(value)
    if (keys.length === 0 || (count + keys.length > MAX_FIRST_ROWS && steps.length > 0)) continue
    open.add(formatPath(steps))
    count += keys.length
    for (const key of keys.slice(0, MAX_FIRST_ROWS)) level.push([getEntry(value, key), [...steps, key]])
  }
  return open
}

function buildRow(
  value: unknown,
  steps: DocumentSteps,
  place: number,
  siblings: number,
  open: ReadonlySet<string>,
): ValueRow {
  const id = formatPath(steps)
  const type = findType(value)
  const isBranch = listKeys(value).length > 0
  const name = steps.length === 0 ? 'Document' : String(steps.at(-1))
  return {
    ...{ kind: 'value', id, steps, level: steps.length + 1, place, siblings, type },
    name: shorten(name),
    text: describe(value, type),
    isOpen: isBranch ? open.has(id) : null,
  }
}

function findType(value: unknown): ValueType {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return 'list'
  const type = typeof value
  return type === 'string' ? 'text' : (type as ValueType)
}

function describe(value: unknown, type: ValueType): string {
  if (type === 'text') return shorten(JSON.stringify((value as string).slice(0, MAX_TEXT * 2)))
  if (type !== 'list' && type !== 'object') return String(value ?? null)
  const count = listKeys(value).length
  const noun = type === 'list' ? 'element' : 'key'
  return count === 0 ? `no ${noun}s` : formatCount(count, noun)
}

const shorten = (text: string) => (text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - 1)}…`)

/** The keys of an object, or the indexes of a list; none of a value. */
export function listKeys(value: unknown): (string | number)[] {
  if (Array.isArray(value)) return [...value.keys()]
  return typeof value === 'object' && value !== null ? Object.keys(value) : []
}

const getEntry = (value: unknown, key: string | number): unknown => (value as Record<string | number, unknown>)[key]
