import { useLayoutEffect, useRef } from 'preact/hooks'
import { useFrame } from '../../core/frame-context.ts'

/** What a key does. `row`: the one with the focus; null: no row has it. */
type RowAction = (row: HTMLElement | null, page: Document) => void

/**
 * The keys of a list: `j` and `k` move the focus between the links of its rows, so that Enter opens one. `actions` by key;
 * the same keys at each render. Returns the reference for the element around the rows.
 */
export function useRowKeys(actions: Readonly<Record<string, RowAction>>) {
  const { keys } = useFrame()
  const list = useRef<HTMLDivElement>(null)
  const latest = useRef(actions)
  latest.current = actions
  // before the rows are painted: a person who sees them can use the keys
  useLayoutEffect(() => {
    const page = list.current!.ownerDocument
    const findRow = () => {
      const row = page.activeElement?.closest<HTMLElement>('tr[data-id]')
      return row && list.current?.contains(row) ? row : null
    }
    const move = (step: 1 | -1) => {
      const links = [...(list.current?.querySelectorAll<HTMLElement>('a.row') ?? [])]
      const at = links.findIndex(link => link.closest('tr') === findRow())
      const next = at === -1 ? (step === 1 ? 0 : links.length - 1) : at + step
      links[next]?.focus()
    }
    const others = Object.keys(actions).map(key => [key, () => latest.current[key]?.(findRow(), page)] as const)
    return keys.bind({ j: () => move(1), k: () => move(-1), ...Object.fromEntries(others) })
  }, [keys])
  return list
}
