import { createRetryTracker } from '../../control-plane/insight/analytics/recording/insert-errors.ts'
import {
  type RecorderTools,
  recordUntilAborted,
} from '../../control-plane/insight/analytics/recording/record-messages.ts'
import { createRecorderMetrics } from '../../control-plane/insight/analytics/recording/recorder-metrics.ts'
import { RESULTS_STREAM } from '../../shared/nats/subjects.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import type { Random } from '../chaos/random.ts'
import { followCheckedRegions } from './checked-regions.ts'
import type { Database } from './database.ts'
import { RECORDER_TURNS, type SimulatedConsumer } from './durable-consumer.ts'
import { createHost, type Host, type Time } from './time.ts'

type Parts = {
  time: Time
  random: Random
  database: Database
  consumer: SimulatedConsumer
  createInsert: (host: Host) => RecorderTools['insert']
}

/** The processes of the role `record`. */
export type SimulatedRecorders = {
  start: (name: string) => void
  /** `isInOrder`: the batch that is being written is finished. Otherwise its messages are delivered again. */
  stop: (name: string, isInOrder: boolean) => void
}

/** The times of the loops of `startRecorder`. */
const ABORT_AFTER_MS = 80_000
const PAUSE_MS = [1_000, 1_500] as const

/** Records with the production code. The loop around it, the consumer and ClickHouse are modelled. */
export function startRecorders({ time, random, database, consumer, createInsert }: Parts): SimulatedRecorders {
  const log = createLog('simulate', 'silent')
  const metrics = createRecorderMetrics(createMetrics())
  const stops = new Map<string, (isInOrder: boolean) => void>()

  async function run(host: Host, state: { isStopping: boolean; round: AbortController }): Promise<void> {
    const monitors = followCheckedRegions(host, database)
    const tools: RecorderTools = {
      ...{ log, metrics, monitors, tries: createRetryTracker(), insert: createInsert(host) },
      note: () => Promise.resolve(),
      isAway: () => true,
      yieldPoint: null,
    }
    const source = consumer.openSource(host, () => state.round.signal)
    while (!state.isStopping) {
      state.round = new AbortController()
      const cancel = host.machine.after(ABORT_AFTER_MS, () => state.round.abort())
      try {
        if (!monitors.isKnown()) await monitors.refresh()
        await recordUntilAborted(state.round.signal, RESULTS_STREAM, source, tools)
      } catch {
        await host.machine.pause(random.between(...PAUSE_MS))
      } finally {
        cancel()
      }
    }
    host.end()
  }

  return {
    start(name) {
      const host = createHost(time, random)
      const state = { isStopping: false, round: new AbortController() }
      host.machine.soon(() => {
        void run(host, state)
        time.settled(RECORDER_TURNS)
      })
      stops.set(name, isInOrder => {
        state.isStopping = true
        if (isInOrder) state.round.abort()
        else host.end()
      })
    },
    stop(name, isInOrder) {
      stops.get(name)?.(isInOrder)
      stops.delete(name)
    },
  }
}
