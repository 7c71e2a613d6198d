import { BEGIN_MS } from './installation.ts'
import type { Time } from './time.ts'

type Message = { sequence: number; takenAtMs: number; subject: string; data: Uint8Array }

/** One stream: ordered messages, deduplicated by id for two minutes, with times of a clock that can be set. */
export type JetStream = {
  isUnavailable: () => boolean
  /** Stores a message. A repeated id is ignored. */
  store: (subject: string, data: Uint8Array, id: string) => void
  /** its clock, in ms since 1970 */
  nowMs: () => number
  setClock: (byMs: number) => void
  onClock: (listener: (byMs: number) => void) => void
  /** the messages beginning with a sequence */
  from: (sequence: number) => Message[]
  /** the first sequence stored at or after a time; the next sequence if there is none */
  sequenceAt: (takenAtMs: number) => number
  get: (sequence: number) => Message | undefined
  state: () => { created: string; firstSequence: number; lastSequence: number; lastAtMs: number }
  onStored: (listener: () => void) => void
}

const KEPT_MS = 40 * 60_000
const DUPLICATES_MS = 120_000
const TRIM_EVERY = 2_000

export function createJetStream(time: Time, isUnavailable: () => boolean): JetStream {
  let messages: Message[] = []
  let first = 1
  let last = 0
  let lastAtMs = BEGIN_MS
  let aheadMs = 0
  let ids = new Map<string, number>()
  const listeners: (() => void)[] = []
  const clockListeners: ((byMs: number) => void)[] = []
  // whole ms, as clients read them
  const nowMs = () => Math.floor(BEGIN_MS + time.nowMs() + aheadMs)

  function trim(): void {
    const oldestMs = time.nowMs() - DUPLICATES_MS
    ids = new Map([...ids].filter(([, atMs]) => atMs > oldestMs))
    const keep = messages.findIndex(({ takenAtMs }) => takenAtMs > nowMs() - KEPT_MS)
    if (keep <= 0) return
    messages = messages.slice(keep)
    first += keep
  }

  return {
    isUnavailable,
    nowMs,
    store(subject, data, id) {
      if (isUnavailable() || ids.has(id)) return
      ids.set(id, time.nowMs())
      last++
      lastAtMs = nowMs()
      messages.push({ sequence: last, takenAtMs: lastAtMs, subject, data })
      if (last % TRIM_EVERY === 0) trim()
      for (const listener of listeners) listener()
    },
    setClock(byMs) {
      aheadMs += byMs
      for (const listener of clockListeners) listener(byMs)
    },
    from: sequence => messages.slice(Math.max(0, sequence - first)),
    sequenceAt(takenAtMs) {
      const found = messages.find(message => message.takenAtMs >= takenAtMs)
      return found ? found.sequence : last + 1
    },
    get: sequence => messages[sequence - first],
    state: () => ({ created: 'simulated', firstSequence: first, lastSequence: last, lastAtMs }),
    onClock: listener => void clockListeners.push(listener),
    onStored: listener => void listeners.push(listener),
  }
}
