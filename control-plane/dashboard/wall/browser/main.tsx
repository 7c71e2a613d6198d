import { hydrate } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { DEFAULT_SIZE, Wall, type WallBounds } from '../wall.tsx'
import type { WallData } from '../wall-data.ts'
import { judgeAnswer } from './wall-answer.ts'

const READ_MS = 15_000
const TICK_MS = 1_000
const READ_TIMEOUT_MS = 10_000

/** The data, and when they arrived by the clock of this browser. */
type ArrivedData = { data: WallData; atMs: number }

/** What the server rendered, when, and its build. */
type WallState = { data: WallData; nowMs: number; build: string }

/** Keeps a wallboard up to date, with a clock. */
function LiveWall({ data: initial, nowMs: renderedMs, build }: WallState) {
  const [{ data, atMs }, setArrived] = useState<ArrivedData>({ data: initial, atMs: Date.parse(initial.at) })
  const shown = useRef({ at: data.at, build })
  shown.current.at = data.at
  const [nowMs, setNow] = useState(renderedMs)
  const [size, setSize] = useState<WallBounds>(DEFAULT_SIZE)
  const [timeZone, setTimeZone] = useState('UTC')
  useEffect(() => {
    setTimeZone(Intl.DateTimeFormat().resolvedOptions().timeZone)
    setArrived({ data: initial, atMs: Date.now() })
    setNow(Date.now())
    const ticks = setInterval(() => setNow(Date.now()), TICK_MS)
    const reads = setInterval(() => void read(shown.current, setArrived), READ_MS)
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
async function read(shown: { at: string; build: string }, show: (arrived: ArrivedData) => void): Promise<void> {
  try {
    const response = await fetch(`${location.pathname}/data`, { signal: AbortSignal.timeout(READ_TIMEOUT_MS) })
    const body: unknown = await response.json().catch(() => null)
    const effect = judgeAnswer({ status: response.status, body }, shown)
    if (effect.kind === 'revoked') location.reload()
    if (effect.kind !== 'show') return
    show({ data: effect.data, atMs: Date.now() })
    if (effect.build !== null) reloadOnce(effect.build)
  } catch {
    // no contact; the page says how old the data are
  }
}

/** Loads the page of another build. While two builds answer in turns, this happens once for each. */
function reloadOnce(build: string): void {
  const key = `picket-wall-${build}`
  if (sessionStorage.getItem(key) !== null) return
  sessionStorage.setItem(key, 'loaded')
  location.reload()
}

// the names are those of wall-document.tsx, which browsers do not load
const root = document.getElementById('wall')
const text = document.getElementById('wall-state')?.textContent
if (root && text) {
  hydrate(<LiveWall {...(JSON.parse(text) as WallState)} />, root)
}
