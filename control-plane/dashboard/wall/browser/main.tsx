import { hydrate } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { DEFAULT_SIZE, Wall, type WallBounds } from '../wall.tsx'
import type { WallData } from '../wall-data.ts'

const READ_MS = 15_000
const TICK_MS = 1_000

/** The data, and when they arrived by the clock of this browser. */
type Arrived = { data: WallData; atMs: number }

/** Keeps a wallboard up to date, with a clock. `initial`: what the server rendered, at `nowMs`. */
function LiveWall({ initial, nowMs: renderedMs }: { initial: WallData; nowMs: number }) {
  const [{ data, atMs }, setArrived] = useState<Arrived>({ data: initial, atMs: Date.parse(initial.at) })
  const [nowMs, setNow] = useState(renderedMs)
  const [size, setSize] = useState<WallBounds>(DEFAULT_SIZE)
  const [timeZone, setTimeZone] = useState('UTC')
  useEffect(() => {
    setTimeZone(Intl.DateTimeFormat().resolvedOptions().timeZone)
    setArrived({ data: initial, atMs: Date.now() })
    setNow(Date.now())
    const ticks = setInterval(() => setNow(Date.now()), TICK_MS)
    const reads = setInterval(() => void read(setArrived), READ_MS)
    return () => {
      clearInterval(ticks)
      clearInterval(reads)
    }
  }, [])
  useEffect(() => {
    // it changes with the window and with the number of tiles above it
    const place = document.querySelector('.bars')
    if (!place) return
    const observer = new ResizeObserver(([entry]) => {
      const { width, height } = entry!.contentRect
      const { innerWidth: windowWidth, innerHeight: windowHeight } = window
      if (width >= 1 && height >= 1)
        setSize({ width: Math.round(width), height: Math.round(height), windowWidth, windowHeight })
    })
    observer.observe(place)
    return () => observer.disconnect()
  }, [])
  return <Wall data={data} nowMs={nowMs} timeZone={timeZone} ageMs={Math.max(0, nowMs - atMs)} size={size} />
}

/** Reads once. Without an answer the data stay and grow old; a link that was revoked loads the page that says so. */
async function read(show: (arrived: Arrived) => void): Promise<void> {
  try {
    const response = await fetch(`${location.pathname}/data`)
    if (response.status === 404) return location.reload()
    if (!response.ok) return
    const { data } = (await response.json()) as { data: WallData }
    show({ data, atMs: Date.now() })
  } catch {
    // no contact; the page says how old the data are
  }
}

// the names are those of wall-document.tsx, which browsers do not load
const root = document.getElementById('wall')
const text = document.getElementById('wall-state')?.textContent
if (root && text) {
  const { data, nowMs } = JSON.parse(text) as { data: WallData; nowMs: number }
  hydrate(<LiveWall initial={data} nowMs={nowMs} />, root)
}
