import { useEffect, useRef, useState } from 'preact/hooks'
import type { BoardRow } from '../../core/board/board-row.ts'
import { useFrame } from '../../core/frame-context.ts'
import { Dialog } from './dialog.tsx'
import { listEntries, type PaletteEntry, rankByName, type ViewEntry } from './palette-entries.ts'

const MAX_FOUND = 200
const LIST_ID = 'palette-list'
const toOptionId = (index: number) => `palette-option-${index}`

/** Opens a monitor, a page or an action by a part of its name. */
export function Palette({ onClose }: { onClose(): void }) {
  const { me, navigate, mayLeave, openOverlay } = useFrame()
  const [text, setText] = useState('')
  const [current, setCurrent] = useState(0)
  const monitors = useMonitors(text)
  const views = useViews()
  const entries = listEntries(text, me, monitors, views)
  const open = ({ target }: PaletteEntry) => {
    onClose()
    if ('overlay' in target) openOverlay(target.overlay)
    else if (mayLeave()) navigate(target.address)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 }
    const step = steps[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setCurrent(index => (index + step + entries.length) % Math.max(1, entries.length))
    } else if (event.key === 'Enter' && !event.isComposing) {
      event.preventDefault()
      const entry = entries[current]
      if (entry) open(entry)
    }
  }
  return (
    <Dialog id="palette" title="Go to" isTitleHidden onClose={onClose}>
      <input
        role="combobox"
        aria-label="Monitor, page or action"
        aria-expanded={entries.length > 0}
        aria-controls={LIST_ID}
        aria-autocomplete="list"
        aria-activedescendant={entries[current] && toOptionId(current)}
        type="text"
        value={text}
        placeholder="Monitor, page or action"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        onInput={event => {
          setText(event.currentTarget.value)
          setCurrent(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div id={LIST_ID} role="listbox" aria-label="Matches">
        {entries.map((entry, i) => (
          <Option key={entry.id} entry={entry} index={i} isCurrent={i === current} onOpen={() => open(entry)} />
        ))}
      </div>
      <p class="soft small" role="status">
        {entries.length === 0 ? 'Nothing matches.' : <span class="hidden">{entries.length} matches</span>}
      </p>
    </Dialog>
  )
}

function Option({
  entry,
  index,
  isCurrent,
  onOpen,
}: {
  entry: PaletteEntry
  index: number
  isCurrent: boolean
  onOpen(): void
}) {
  const element = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (isCurrent) element.current?.scrollIntoView({ block: 'nearest' })
  }, [isCurrent])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the field, which keeps the focus
    <div ref={element} id={toOptionId(index)} role="option" tabIndex={-1} aria-selected={isCurrent} onClick={onOpen}>
      <span dir="auto">{entry.name}</span> <span class="soft small">{entry.kind}</span>
    </div>
  )
}

/** The saved filters; none until they are read, and when they cannot be read. */
function useViews(): readonly ViewEntry[] {
  const { execute } = useFrame()
  const [views, setViews] = useState<readonly ViewEntry[]>([])
  useEffect(() => {
    execute('listViews', { query: { per_page: 100 } }).then(outcome => {
      if ('data' in outcome) setViews(outcome.data.data)
    })
  }, [])
  return views
}

/** The monitors that match the text: of the newest text, whatever is answered first; until then those before that match too. */
function useMonitors(text: string): readonly BoardRow[] {
  const { findMonitors } = useFrame()
  const [found, setFound] = useState<{ of: string; rows: readonly BoardRow[] }>({ of: text, rows: [] })
  useEffect(() => {
    let isCurrent = true
    findMonitors({ text, limit: MAX_FOUND }).then(selection => {
      if (isCurrent) setFound({ of: text, rows: selection?.rows ?? [] })
    })
    return () => {
      isCurrent = false
    }
  }, [text])
  return found.of === text ? found.rows : rankByName(found.rows, text)
}
