import type { FetchedMessage, MessageSource } from '../../control-plane/insight/analytics/recording/record-messages.ts'
import { RESULTS_STREAM } from '../../shared/nats/subjects.ts'
import type { ActiveFaults } from './conditions.ts'
import type { JetStream } from './jetstream.ts'
import type { Host, Time } from './time.ts'

type SimulatedMessage = FetchedMessage & { working(): void }
type StoredMessage = NonNullable<ReturnType<JetStream['get']>>

/** A durable consumer of the stream: it survives the processes that use it. */
export type SimulatedConsumer = {
  /** Makes a message of the stream available. */
  add: (sequence: number) => void
  /** The messages for a process. Aborting the current signal ends a wait. */
  openSource: (host: Host, getSignal: () => AbortSignal) => MessageSource<SimulatedMessage>
}

/** What happens to a message, for the oracle. */
type ConsumerObserver = {
  /** `isAgain`: it was delivered before */
  delivered: (sequence: number, isAgain: boolean) => void
  acknowledged: (sequence: number) => void
}

type Parts = { time: Time; activeFaults: ActiveFaults; stream: JetStream; observer: ConsumerObserver }
/** A request of a process for messages. The server forgets it when NATS ends. */
type PullRequest = { host: Host; left: number; give: (message: SimulatedMessage) => void }

/** The settings of `openDurableConsumer`, and the waits of the recorder. */
const ACK_WAIT_MS = 10_000
const MAX_ACK_PENDING = 10_000
const PROGRESS_EVERY_MS = 2_000
const MAX_BATCH = 500
const [IDLE_WAIT_MS, IDLE_FETCH_MS, STEADY_FETCH_MS] = [15_000, 2_000, 4_000]
/** A fetch that the server does not end is noticed after this time. */
const OVERDUE_MS = 2_000
const SWEEP_EVERY_MS = 500
/** Turns of nested promises of the recorder. */
export const RECORDER_TURNS = 24

export function createDurableConsumer({ time, activeFaults, stream, observer }: Parts): SimulatedConsumer {
  const pending = new Map<number, { dueMs: number; isQueued: boolean }>()
  let requests: PullRequest[] = []
  let queued: number[] = []
  const incoming: number[] = []
  let isSweeping = false

  /** The next message to deliver: first those that are delivered again. */
  function takeNext(): StoredMessage | undefined {
    for (;;) {
      const sequence = queued.shift()
      if (sequence === undefined) break
      const entry = pending.get(sequence)
      if (!entry?.isQueued) continue
      const message = stream.get(sequence)
      // the stream has forgotten it
      if (!message) pending.delete(sequence)
      else {
        entry.isQueued = false
        observer.delivered(sequence, true)
        return message
      }
    }
    if (pending.size >= MAX_ACK_PENDING) return undefined
    while (incoming.length > 0) {
      const sequence = incoming.shift()!
      const message = stream.get(sequence)
      if (!message) continue
      observer.delivered(sequence, false)
      return message
    }
    return undefined
  }

  function deliver(): void {
    if (activeFaults.nats.isUnavailable) return
    while (requests.length > 0) {
      const request = requests.shift()!
      if (!request.host.isAlive() || request.left === 0) continue
      const message = takeNext()
      if (!message) return void requests.unshift(request)
      const known = pending.get(message.sequence)
      const dueMs = time.nowMs() + ACK_WAIT_MS
      if (known) known.dueMs = dueMs
      else pending.set(message.sequence, { dueMs, isQueued: false })
      request.left--
      if (request.left > 0) requests.push(request)
      request.give(toDelivered(message))
      sweepLater()
    }
  }

  function sweepLater(): void {
    if (isSweeping) return
    isSweeping = true
    time.after(SWEEP_EVERY_MS, sweep)
  }

  /** Queues the messages whose wait has ended. */
  function sweep(): void {
    isSweeping = false
    if (pending.size === 0) return
    const due: number[] = []
    for (const [sequence, entry] of pending)
      if (!entry.isQueued && entry.dueMs <= time.nowMs()) {
        entry.isQueued = true
        due.push(sequence)
      }
    if (due.length > 0) queued = [...queued, ...due.sort((a, b) => a - b)]
    if (queued.length > 0) deliver()
    sweepLater()
  }

  /** Signals of a process are lost while NATS is unavailable. */
  function setDue(sequence: number, afterMs: number): void {
    const entry = pending.get(sequence)
    if (entry && !entry.isQueued && !activeFaults.nats.isUnavailable) entry.dueMs = time.nowMs() + afterMs
  }

  const toDelivered = ({ sequence, subject, data, takenAtMs }: StoredMessage): SimulatedMessage => ({
    subject,
    data,
    info: { stream: RESULTS_STREAM, streamSequence: sequence, timestampNanos: takenAtMs * 1_000_000 },
    ack() {
      if (activeFaults.nats.isUnavailable) return
      observer.acknowledged(sequence)
      pending.delete(sequence)
    },
    nak: delayMs => setDue(sequence, delayMs),
    working: () => setDue(sequence, ACK_WAIT_MS),
  })

  /** Like `fetchMessages`: everything that arrives within the wait, at most `max` messages. */
  function fetchMessages(host: Host, signal: AbortSignal, max: number, waitMs: number): Promise<SimulatedMessage[]> {
    return new Promise((resolve, reject) => {
      const messages: SimulatedMessage[] = []
      const end = (error?: Error) => {
        cancel()
        signal.removeEventListener('abort', stop)
        request.left = 0
        if (error && messages.length === 0) reject(error)
        else resolve(messages)
        time.settled(RECORDER_TURNS)
      }
      const stop = () => end()
      const request: PullRequest = {
        host,
        left: max,
        give(message) {
          messages.push(message)
          if (messages.length === max) host.machine.soon(stop)
        },
      }
      let cancel = host.machine.after(waitMs, () => {
        if (requests.includes(request)) return end()
        // NATS has ended meanwhile
        cancel = host.machine.after(OVERDUE_MS, () => end(new Error('JetStream did not end a fetch in time')))
      })
      signal.addEventListener('abort', stop)
      if (signal.aborted) return void host.machine.soon(stop)
      if (activeFaults.nats.isUnavailable) return
      requests.push(request)
      deliver()
    })
  }

  /** Like `waitForMessages`. */
  async function waitForMessages(host: Host, signal: AbortSignal): Promise<SimulatedMessage[]> {
    const first = await fetchMessages(host, signal, 1, IDLE_WAIT_MS)
    if (first.length === 0) return first
    const others = await fetchMessages(host, signal, MAX_BATCH - 1, IDLE_FETCH_MS).catch(() => [])
    return [...first, ...others]
  }

  activeFaults.changed.subscribe(() => {
    if (activeFaults.nats.isUnavailable) requests = []
    return true
  })
  return {
    add(sequence) {
      incoming.push(sequence)
      deliver()
    },
    openSource: (host, getSignal) => ({
      take: isIdle =>
        isIdle ? waitForMessages(host, getSignal()) : fetchMessages(host, getSignal(), MAX_BATCH, STEADY_FETCH_MS),
      async keepInProgress(messages, work) {
        if (messages.length === 0) return work
        const cancel = host.machine.every(PROGRESS_EVERY_MS, () => {
          for (const message of messages) message.working()
        })
        try {
          return await work
        } finally {
          cancel()
        }
      },
    }),
  }
}
