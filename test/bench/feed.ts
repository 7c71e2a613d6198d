import type { Nats } from '../../control-plane/foundation/platform/nats/client.ts'
import { monotonicMs, sleep } from '../../control-plane/foundation/platform/time/clock.ts'
import type { Teardown } from '../support/teardown.ts'
import { encodeBatches, publishAll, REGIONS } from './rig.ts'

const RESULTS_A_MESSAGE = 100

type Feed = {
  /** results that JetStream has acknowledged */
  published(): number
  /** resolves when everything published is acknowledged; nothing more is published until `resume` */
  pause(): Promise<void>
  resume(): void
  /** resolves when the last of them is acknowledged */
  stop(): Promise<void>
}

/**
 * Publishes results of healthy monitors at a constant rate until it is stopped: all monitors of one region, then all of the
 * next one, each checked now. Messages that NATS refuses are dropped; the rate does not change.
 */
export function startFeed(t: Teardown, nats: Nats, monitorIds: string[], resultsASecond: number): Feed {
  let isFeeding = true
  let published = 0
  let publishing: Promise<void> = Promise.resolve()
  let isPaused = false
  const feed = async () => {
    const everyMs = (monitorIds.length / resultsASecond) * 1_000
    for (let dueMs = monotonicMs(), turn = 0; isFeeding; dueMs = Math.max(dueMs + everyMs, monotonicMs()), turn++) {
      while (isPaused && isFeeding) await sleep(50)
      const scheduledAtMs = Date.now()
      const shots = monitorIds.map(monitorId => ({ monitorId, scheduledAtMs, up: true }))
      publishing = publishAll(nats, encodeBatches(shots, REGIONS[turn % REGIONS.length]!, RESULTS_A_MESSAGE)).then(
        () => {
          published += monitorIds.length
        },
        () => {},
      )
      await publishing
      await sleep(Math.max(0, dueMs + everyMs - monotonicMs()))
    }
  }
  const fed = feed()
  const pause = () => {
    isPaused = true
    return publishing
  }
  const resume = () => {
    isPaused = false
  }
  const stop = () => {
    isFeeding = false
    return fed
  }
  t.teardown(stop)
  return { published: () => published, pause, resume, stop }
}
