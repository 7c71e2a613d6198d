const DAY_MS = 86_400_000
const EDGE_PX = 8

/**
 * Shows a tooltip for the day below the pointer; the arrow keys move from day to day. The list behind the bar has the
 * same text for readers without a pointer or JavaScript.
 */
export function addTooltips(): void {
  const tip = document.createElement('div')
  tip.className = 'tip'
  tip.role = 'status'
  tip.hidden = true
  document.querySelector('.page')?.append(tip)
  let keyed: { bar: Element; day: number } | null = null

  const hide = () => {
    tip.hidden = true
    keyed = null
  }
  const show = (bar: Element, day: number) => {
    const { count, rows, box } = measureGrid(bar)
    if (day < 0 || day >= count) return
    tip.replaceChildren(...buildTooltipNodes(bar, day, count))
    tip.hidden = false
    const columns = count / rows
    const x = box.left + (((day % columns) + 0.5) / columns) * box.width
    const most = document.documentElement.clientWidth - tip.offsetWidth - EDGE_PX
    tip.style.left = `${scrollX + Math.max(EDGE_PX, Math.min(most, x - tip.offsetWidth / 2))}px`
    tip.style.top = `${scrollY + box.top + (Math.floor(day / columns) * box.height) / rows - tip.offsetHeight - EDGE_PX}px`
  }

  document.addEventListener('pointermove', event => {
    const bar = event.target instanceof Element ? event.target.closest('.bar[role]') : null
    if (!bar || event.pointerType === 'touch') return keyed ? undefined : hide()
    show(bar, findDayAt(bar, event.clientX, event.clientY))
  })
  document.addEventListener('keydown', event => {
    const bar = document.activeElement?.querySelector(':scope > .bar[role]')
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (event.key === 'Escape') return hide()
    if (!bar || !step) return
    event.preventDefault()
    const last = measureGrid(bar).count - 1
    const day = keyed?.bar === bar ? Math.max(0, Math.min(last, keyed.day + step)) : last
    keyed = { bar, day }
    show(bar, day)
  })
  document.addEventListener('focusout', hide)
  document.addEventListener('scroll', hide, { passive: true })
}

/** A bar of characters wraps into several rows on a phone. */
function measureGrid(bar: Element) {
  const box = bar.getBoundingClientRect()
  const count = Number(bar.closest('details')?.dataset.many)
  const rowHeight = bar instanceof SVGElement ? box.height : Number.parseFloat(getComputedStyle(bar).lineHeight)
  return { box, count, rows: Math.max(1, Math.round(box.height / rowHeight)) }
}

function findDayAt(bar: Element, x: number, y: number): number {
  const { box, count, rows } = measureGrid(bar)
  const within = (at: number, length: number, parts: number) =>
    Math.max(0, Math.min(parts - 1, Math.floor((at / length) * parts)))
  const columns = count / rows
  return within(y - box.top, box.height, rows) * columns + within(x - box.left, box.width, columns)
}

/** The line of the list for a day; "Operational" when the list has none. */
function buildTooltipNodes(bar: Element, day: number, count: number): Node[] {
  const details = bar.closest('details')
  for (const line of details?.querySelectorAll<HTMLElement>('[data-d]') ?? []) {
    const [from, to = from] = (line.dataset.d ?? '').split('-').map(Number) as [number, number?]
    if (day >= from && day <= to) return [...line.cloneNode(true).childNodes]
  }
  const date = new Date(Date.parse(details?.dataset.to ?? '') - (count - 1 - day) * DAY_MS)
  const text = date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
  const word = document.createElement('b')
  word.className = 'o'
  word.textContent = 'Operational'
  return [document.createTextNode(`${text} `), word]
}
