import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type DayRange, type Days, limitDays, moveDay } from './day-range.ts'

/** `days`: those of the calendar that can begin a window, in order. `open`: opens the form of a window for days. */
type DayChoiceOptions = { days: readonly string[]; today: string; firstStop: string; open(days: Days): void }

/**
 * Choosing days of a calendar: by dragging with a mouse or a pen, by a tap, and with keys. Fingers scroll the page, so they
 * choose one day only.
 */
export function useDayChoice({ days, today, firstStop, open }: DayChoiceOptions) {
  const table = useRef<HTMLTableElement>(null)
  const [range, setRange] = useState<DayRange | null>(null)
  const [focused, setFocused] = useState<string | null>(null)
  const chosen = range && limitDays(range, today)
  const drag = useDrag(table, {
    canBegin: day => days.includes(day),
    onMove: (anchor, reached) => setRange(reached === null ? null : { anchor, reached }),
    onEnd(anchor, reached) {
      setRange(null)
      // on one day, the click opens the form
      if (reached !== null && reached !== anchor) open(limitDays({ anchor, reached }, today))
    },
  })
  const onClick = (event: MouseEvent) => {
    const day = findDay(event.target)
    if (day === null || !days.includes(day) || isControl(event.target) || drag.isAborted(event)) return
    open(chosen && day === chosen.head ? chosen : { first: day, last: day })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const button = (event.target as Element).closest('button.day-label')
    const day = findDay(button)
    if (day === null || drag.isOn || event.ctrlKey || event.altKey || event.metaKey) return
    if (event.key === 'Escape') return setRange(null)
    const next = moveDay(day, event.key, days)
    if (next === null) return
    event.preventDefault()
    const moved = event.shiftKey ? { anchor: range?.anchor ?? day, reached: next } : null
    setRange(moved)
    focusDay(table.current!, moved ? limitDays(moved, today).head : next)
  }
  return {
    chosen,
    /** the day that the Tab key reaches */
    stop: focused !== null && days.includes(focused) ? focused : firstStop,
    setFocused,
    handlers: { ref: table, onPointerDown: drag.onPointerDown, onClick, onKeyDown },
  }
}

type DragOptions = {
  canBegin(day: string): boolean
  /** `reached` null: the pointer is outside of the calendar, where a drag ends without effect */
  onMove(anchor: string, reached: string | null): void
  onEnd(anchor: string, reached: string | null): void
}

/** A drag over days, until the button is released or Escape is pressed. */
function useDrag(table: { current: HTMLTableElement | null }, { canBegin, onMove, onEnd }: DragOptions) {
  const [anchor, setAnchor] = useState<string | null>(null)
  const aborted = useRef(false)
  const last = useRef<string | null>(null)
  const end = (reached: string | null) => {
    setAnchor(null)
    onEnd(anchor!, reached)
  }
  const locate = ({ clientX, clientY }: PointerEvent) => {
    const under = table.current!.ownerDocument.elementFromPoint(clientX, clientY)
    return table.current!.contains(under) ? findDay(under) : null
  }
  // before the next event, which can be the end of the drag
  useLayoutEffect(() => {
    if (anchor === null) return undefined
    const listening = new AbortController()
    const listen = <Name extends keyof DocumentEventMap>(name: Name, handle: (event: DocumentEventMap[Name]) => void) =>
      table.current!.ownerDocument.addEventListener(name, handle, { signal: listening.signal })
    listen('pointermove', event => {
      if (event.buttons === 0) return end(null)
      const reached = locate(event)
      if (reached !== last.current) onMove(anchor, reached)
      last.current = reached
    })
    listen('pointerup', event => end(locate(event)))
    listen('pointercancel', () => end(null))
    listen('keydown', event => {
      if (event.key !== 'Escape') return
      event.preventDefault()
      aborted.current = true
      end(null)
    })
    return () => listening.abort()
  }, [anchor])
  return {
    isOn: anchor !== null,
    /** whether a click ends a drag that Escape has ended */
    isAborted: (click: MouseEvent) => aborted.current && click.detail > 0,
    onPointerDown(event: PointerEvent) {
      aborted.current = false
      if (event.button !== 0 || event.ctrlKey || event.pointerType === 'touch' || isControl(event.target)) return
      const day = findDay(event.target)
      if (day === null || !canBegin(day)) return
      last.current = day
      setAnchor(day)
      onMove(day, day)
    },
  }
}

/** The day of a cell of the calendar, or of what is in it. */
const findDay = (target: EventTarget | null): string | null =>
  (target as Element | null)?.closest<HTMLElement>('td[data-day]')?.dataset.day ?? null

/** A link to a window, or the control that shows more of them. */
const isControl = (target: EventTarget | null): boolean => (target as Element | null)?.closest('a, summary') != null

const focusDay = (table: HTMLTableElement, day: string) =>
  table.querySelector<HTMLElement>(`td[data-day="${day}"] > button.day-label`)?.focus()
