import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { formatNumber } from '../../../../core/format.ts'
import {
  type DocumentSteps,
  ENTRIES_SHOWN,
  listFirstOpen,
  listTreeRows,
  type TreeRow,
  type TreeState,
} from './tree-rows.ts'

/** Deeper levels are indented like this one. */
const MAX_INDENT = 12

/** The state of a tree: its rows, which of them has the focus, and what keys and clicks do. */
function useTree(root: unknown, onChoose: ((steps: DocumentSteps, id: string) => void) | undefined) {
  const [state, setState] = useState<TreeState>(() => ({ open: listFirstOpen(root), shown: new Map() }))
  const [current, setCurrent] = useState('$')
  const tree = useRef<HTMLDivElement>(null)
  const hasMoved = useRef(false)
  const rows = useMemo(() => listTreeRows(root, state), [root, state])
  const at = Math.max(
    0,
    rows.findIndex(({ id }) => id === current),
  )
  useLayoutEffect(() => {
    if (!hasMoved.current) return
    hasMoved.current = false
    tree.current?.querySelector<HTMLElement>('[tabindex="0"]')?.focus()
  }, [current, rows])
  const goTo = (row: TreeRow | undefined) => {
    if (!row) return
    hasMoved.current = true
    setCurrent(row.id)
  }
  const setOpen = (id: string, isOpen: boolean) =>
    setState(({ open, shown }) => {
      const next = new Set(open)
      isOpen ? next.add(id) : next.delete(id)
      return { open: next, shown }
    })
  const showMore = (id: string) =>
    setState(({ open, shown }) => ({ open, shown: new Map(shown).set(id, (shown.get(id) ?? ENTRIES_SHOWN) * 2) }))
  const act = (row: TreeRow) => {
    setCurrent(row.id)
    if (row.kind === 'more') return showMore(row.parent)
    if (row.isOpen === null) onChoose?.(row.steps, row.id)
    else setOpen(row.id, !row.isOpen)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[at]!
    const moves: Record<string, () => void> = {
      ArrowDown: () => goTo(rows[at + 1]),
      ArrowUp: () => goTo(rows[at - 1]),
      Home: () => goTo(rows[0]),
      End: () => goTo(rows.at(-1)),
      ArrowRight: () => {
        if (row.kind === 'value' && row.isOpen === false) setOpen(row.id, true)
        else if (row.kind === 'value' && row.isOpen) goTo(rows[at + 1])
      },
      ArrowLeft: () => {
        if (row.kind === 'value' && row.isOpen) setOpen(row.id, false)
        else goTo(rows.slice(0, at).findLast(({ level }) => level < row.level))
      },
      Enter: () => act(row),
      ' ': () => act(row),
    }
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(moves, event.key)) return
    event.preventDefault()
    moves[event.key]!()
  }
  return { tree, rows, at, setCurrent, act, onKeyDown }
}

/**
 * A document as a tree. Branches are opened by a click or the right arrow key; a click or Enter on a value chooses it. Only rows of open
 * branches exist. `onChoose` undefined: values cannot be chosen.
 */
export function DocumentTree({
  document,
  chosen,
  onChoose,
}: {
  document: unknown
  /** the path of the chosen value */
  chosen: string | null
  onChoose?: (steps: DocumentSteps, id: string) => void
}) {
  const { tree, rows, at, setCurrent, act, onKeyDown } = useTree(document, onChoose)
  return (
    <div class="tree mono" role="tree" aria-label="Document" ref={tree} onKeyDown={onKeyDown}>
      {rows.map((row, i) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys of its rows
        <div
          key={row.id}
          role="treeitem"
          class={`level-${Math.min(row.level, MAX_INDENT)}`}
          tabIndex={i === at ? 0 : -1}
          aria-level={row.level}
          aria-posinset={row.place}
          aria-setsize={row.siblings}
          aria-expanded={row.kind === 'value' && row.isOpen !== null ? row.isOpen : undefined}
          aria-selected={row.id === chosen}
          onFocus={() => setCurrent(row.id)}
          onClick={() => act(row)}
        >
          <Row row={row} />
        </div>
      ))}
    </div>
  )
}

const Row = ({ row }: { row: TreeRow }) =>
  row.kind === 'more' ? (
    <span class="more">Show more of {formatNumber(row.left)} entries</span>
  ) : (
    <>
      <svg viewBox="0 0 12 12" aria-hidden="true">
        {row.isOpen !== null && <path d={row.isOpen ? 'M2 4l4 4 4-4' : 'M4 2l4 4-4 4'} />}
      </svg>
      <bdi class="key">{row.name}</bdi> <bdi class={`value ${row.type}`}>{row.text}</bdi>
    </>
  )
