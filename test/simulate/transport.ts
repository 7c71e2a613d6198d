import { createResultPublisher, type ResultPublisher } from '../../probe-agent/results/publisher.ts'
import type { ResultTransport } from '../../probe-agent/results/result-transport.ts'
import type { Spool } from '../../probe-agent/results/spool.ts'
import type { Log } from '../../shared/process/log.ts'
import type { Random } from '../chaos/random.ts'
import { type ActiveFaults, isNatsReachable, type ProbeConditions } from './conditions.ts'
import type { JetStream } from './jetstream.ts'
import type { Host, Time } from './time.ts'

type Parts = {
  time: Time
  host: Host
  activeFaults: ActiveFaults
  conditions: ProbeConditions
  stream: JetStream
  random: Random
  latencyMs: number
  log: Log
}

const ACK_WITHIN_MS = 5_000
const RECONNECT_AFTER_MS = 500
/** A silent connection is closed after two unanswered pings, 5 s apart. */
const CLOSED_AFTER_MS = 15_000
const LATE_AFTER_MS = 30_000
const REPLAY_EVERY_MS = 1_000

/** The transport of a probe's results: the production publisher over a simulated connection to NATS. */
export type SimulatedTransport = {
  transport: Pick<ResultTransport, 'publish' | 'useWelcome' | 'sendScreenshot'>
  publisher: ResultPublisher
}

export function createTransport(
  parts: Parts & { probeId: string; region: string; onLate: (id: string) => void },
): SimulatedTransport {
  const { time, host, activeFaults, conditions, stream, random, latencyMs, log, probeId, region, onLate } = parts
  const { machine } = host
  let isConnected = true
  let silentSinceMs: number | null = null
  let isReplaying = false

  const isReached = () => !activeFaults.nats.isUnavailable && isNatsReachable(conditions)

  /** A stopped server is noticed immediately, lost packets only by unanswered pings. */
  function watch(): void {
    const now = machine.monotonicMs()
    if (isReached()) {
      silentSinceMs = null
      if (!isConnected) machine.after(RECONNECT_AFTER_MS * (1 + machine.random()), connect)
      return
    }
    silentSinceMs ??= now
    if (!isConnected) return
    if (activeFaults.nats.isUnavailable || now - silentSinceMs >= CLOSED_AFTER_MS) {
      isConnected = false
      publisher.markAway()
    } else machine.after(silentSinceMs + CLOSED_AFTER_MS - now, watch)
  }

  function connect(): void {
    if (isConnected) return
    if (isReached()) {
      isConnected = true
      publisher.markBack()
    } else watch()
  }

  function publish(subject: string, bytes: Uint8Array, id: string): Promise<void> {
    if (!isConnected) return Promise.reject(new Error('NATS is unreachable'))
    return new Promise((resolve, reject) => {
      const lose = () =>
        machine.after(ACK_WITHIN_MS, () => {
          reject(new Error('no ack was received in time'))
          time.settled()
        })
      if (!isReached()) return void lose()
      machine.after(latencyMs, () => {
        // a message in flight arrives even if its sender has exited meanwhile
        if (activeFaults.nats.isUnavailable) return void lose()
        stream.store(subject, bytes, id)
        if (activeFaults.acksLost > 0 && random.chance(activeFaults.acksLost)) return void lose()
        machine.after(latencyMs, () => {
          if (!isReached()) return void lose()
          resolve()
          time.settled()
        })
      })
    })
  }

  const publisher = createResultPublisher({
    stream: { publish, use() {}, isConnected: () => isConnected, close: () => Promise.resolve() },
    spool: createMemorySpool(replaySoon),
    probeId,
    region,
    machine,
    lateAfterMs: LATE_AFTER_MS,
    onLate,
    log,
  })
  /** Like `startSpoolReplay`: late results are sent as soon as JetStream accepts messages again, and the fleet is then notified. */
  function replaySoon(): void {
    if (isReplaying) return
    isReplaying = true
    machine.after(REPLAY_EVERY_MS, () => {
      isReplaying = false
      const isLost = activeFaults.acksLost > 0 && random.chance(activeFaults.acksLost)
      if (publisher.isAway() || !isConnected || !isReached() || isLost) replaySoon()
      else publisher.resetAwayTime()
    })
  }

  activeFaults.changed.subscribe(() => {
    machine.after(0, watch)
    return host.isAlive()
  })
  watch()
  return {
    transport: { publish: publisher.publish, useWelcome() {}, sendScreenshot: () => Promise.resolve() },
    publisher,
  }
}

/** Results in the spool are late and change no status, so they are only numbered. */
function createMemorySpool(onReleased: () => void): Spool {
  let next = 0
  return {
    append: () => next++,
    delivered() {},
    release: onReleased,
    peek: () => Promise.resolve([]),
    consume: () => Promise.resolve(),
    bytes: () => 0,
    waiting: () => 0,
    dropped: () => 0,
    isWritable: () => true,
    close: () => Promise.resolve(),
  }
}
