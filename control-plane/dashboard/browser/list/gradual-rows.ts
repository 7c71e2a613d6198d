import { useEffect, useReducer, useRef } from 'preact/hooks'

/** About half of the rows of a screen. On a slow computer, all of them at once delay the next frame by over 100 ms. */
const MAX_NEW_ROWS = 10

/**
 * The rows to render now: those that were shown before, with ten others. After each frame the next ones follow, so that a
 * list that changes completely appears at once. The first time, as the server renders it, the list is complete.
 */
export function useGradualRows<Row extends { id: string }>(rows: readonly Row[]): readonly Row[] {
  const shown = useRef<ReadonlySet<string> | null>(null)
  const [, renderMore] = useReducer((count: number) => count + 1, 0)
  const part = shown.current === null ? rows : takeRows(rows, shown.current, MAX_NEW_ROWS)
  useEffect(() => {
    shown.current = new Set(part.map(({ id }) => id))
    if (part.length === rows.length) return undefined
    const timer = setTimeout(() => renderMore(undefined))
    return () => clearTimeout(timer)
  })
  return part
}

/** The rows that are shown already, with the first `max` new ones. */
export function takeRows<Row extends { id: string }>(
  rows: readonly Row[],
  shown: ReadonlySet<string>,
  max: number,
): readonly Row[] {
  let added = 0
  return rows.filter(({ id }) => shown.has(id) || ++added <= max)
}
