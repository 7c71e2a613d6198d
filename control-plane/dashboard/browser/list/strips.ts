import { useEffect, useRef, useState } from 'preact/hooks'
import { useFrame } from '../../core/frame-context.ts'
import type { DayHistory } from '../../parts/monitors/day-strip.tsx'

/** The most monitors of one read. */
const MAX_IDS = 100
const FRESH_MS = 60_000
/** Rows that are scrolled past quickly are not read. */
const REST_MS = 150

/**
 * The day of each row in sight, by the id of the monitor. Rows are read when they come into sight, and again after a minute.
 * `order`: the ids of the rows. Returns the reference for the element around them.
 */
export function useStrips(order: readonly string[]) {
  const { execute, nowMs } = useFrame()
  const list = useRef<HTMLDivElement>(null)
  const [strips, setStrips] = useState<ReadonlyMap<string, DayHistory>>(NO_STRIPS)
  const readAt = useRef(new Map<string, number>()).current
  const visibleIds = useRef(new Set<string>()).current
  const read = async () => {
    const dueMs = Date.now() - FRESH_MS
    const ids = [...visibleIds].filter(id => (readAt.get(id) ?? 0) < dueMs).slice(0, MAX_IDS)
    if (ids.length === 0) return
    for (const id of ids) readAt.set(id, Date.now())
    const outcome = await execute('listAnalyticsStrips', { query: { monitor_ids: ids.join(',') } })
    // what could not be read stays as it is until the next minute
    if ('error' in outcome) return
    const there = new Set(order)
    setStrips(before => {
      const kept = [...before].filter(([id]) => there.has(id))
      return new Map([...kept, ...outcome.data.data.map(strip => [strip.monitor_id, strip] as const)])
    })
  }
  const latest = useRef(read)
  latest.current = read
  const key = order.join()
  useEffect(() => {
    const rows = list.current?.querySelectorAll<HTMLElement>('tr[data-id]') ?? []
    let timer: ReturnType<typeof setTimeout>
    visibleIds.clear()
    const observer = new IntersectionObserver(entries => {
      for (const { target, isIntersecting } of entries) {
        const id = (target as HTMLElement).dataset.id!
        if (isIntersecting) visibleIds.add(id)
        else visibleIds.delete(id)
      }
      clearTimeout(timer)
      timer = setTimeout(() => void latest.current(), REST_MS)
    })
    for (const row of rows) observer.observe(row)
    return () => {
      observer.disconnect()
      clearTimeout(timer)
    }
  }, [key])
  const minute = Math.floor(nowMs / FRESH_MS)
  useEffect(() => void latest.current(), [minute])
  return { strips, list }
}

const NO_STRIPS: ReadonlyMap<string, DayHistory> = new Map()
