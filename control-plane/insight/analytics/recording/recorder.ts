import { LATE_STREAM, RESULTS_STREAM } from '../../../../shared/nats/subjects.ts'
import {
  type Clickhouse,
  insertLines,
  isClickhouseAway,
  isSchemaMissing,
} from '../../../foundation/platform/clickhouse.ts'
import type { Nats } from '../../../foundation/platform/nats/client.ts'
import {
  fetchMessages,
  keepInProgress,
  openDurableConsumer,
  waitForMessages,
} from '../../../foundation/platform/nats/durable-consumer.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { createYieldPoint, startTimer } from '../../../foundation/platform/time/clock.ts'
import { type LoopTools, startLoop } from '../../../foundation/platform/time/loop.ts'
import { createCheckedRegionsCache } from '../../../monitoring/monitors/report-regions/checked-regions-actions.ts'
import { createForeignReportRecorder } from '../../../monitoring/monitors/report-regions/foreign-report-actions.ts'
import { createRetryTracker } from './insert-errors.ts'
import { type RecorderTools, recordUntilAborted } from './record-messages.ts'
import { createRecorderMetrics } from './recorder-metrics.ts'
import { RESULT_LINE_COLUMNS, WITNESS_LINE_COLUMNS } from './result-line.ts'

type RecorderContext = LoopTools & {
  db: Db
  nats: Nats
  clickhouse: Clickhouse
  /** called when ClickHouse has no database or table for the results: it was replaced by an empty one */
  onMissingSchema?: () => void
}

/** Messages per insert. A message of a probe has up to 500 results. */
const MAX_BATCH_MESSAGES = 500
/** Late results fill gaps in the history and must not delay live results (docs/design/history.md#recorder). */
const MAX_LATE_BATCH_MESSAGES = 50
const LATE_INTERVAL_MS = 250
/**
 * How long results wait for others after a pause, and while they arrive all the time: an insert and its merges cost about 15 ms
 * of ClickHouse, however few its rows. It must be well below the 10 s after which a message is delivered again.
 */
const IDLE_FETCH = [waitForMessages, 2_000] as const
const STEADY_FETCH = [fetchMessages, 4_000] as const
/** An insert may cover 97 daily partitions or more; the default limit of the server is 100. */
const PARTITION_SETTINGS = 'SETTINGS max_partitions_per_insert_block = 200'
const COLUMNS = { results: RESULT_LINE_COLUMNS, witness_checks: WITNESS_LINE_COLUMNS }
/** An insert into a ClickHouse that hangs ends after 30 s, and a rejected one is split. */
const ROUND_TIMEOUT_MS = 120_000
/**
 * All inserts of a round have ended after this time, however slow ClickHouse is: the round ends with an error and not
 * beyond its limit, which would end the process. The rest of the limit is for PostgreSQL.
 */
const INSERTS_END_MS = 95_000
/** Changes of monitors arrive as notifications; this covers lost ones. */
const REFRESH_INTERVAL_MS = 60_000

/**
 * Writes all results to ClickHouse (docs/design/history.md#recorder). A message of the durable consumers is
 * acknowledged after ClickHouse has stored its rows. A repeated batch changes nothing, because the table replaces equal
 * keys. Any number of processes may run it.
 */
export function startRecorder(
  context: RecorderContext,
  insertsEndMs = INSERTS_END_MS,
): { stop(): Promise<void>; wake(): void } {
  const monitors = createCheckedRegionsCache(context.db)
  const tools: Omit<RecorderTools, 'insert'> = {
    log: context.log,
    metrics: createRecorderMetrics(context.metrics),
    tries: createRetryTracker(),
    monitors,
    note: createForeignReportRecorder(context),
    yieldPoint: createYieldPoint(),
    isAway: isClickhouseAway,
  }
  const monitorLoop = startLoop('record-monitors', REFRESH_INTERVAL_MS, context, () => monitors.refresh())
  const createRound = (stream: string, name: string): Parameters<typeof startLoop>[3] => {
    const maxMessages = stream === LATE_STREAM ? MAX_LATE_BATCH_MESSAGES : MAX_BATCH_MESSAGES
    let consumer: Awaited<ReturnType<typeof openDurableConsumer>> | null = null
    return async signal => {
      const ending = new AbortController()
      const cancel = startTimer(insertsEndMs, () => ending.abort())
      try {
        if (!monitors.isKnown()) await monitors.refresh()
        consumer ??= await openDurableConsumer(context.nats, stream, name)
        const opened = consumer
        const take = (isIdle: boolean) => {
          const [fetchBatch, waitMs] = isIdle ? IDLE_FETCH : STEADY_FETCH
          return fetchBatch(opened, maxMessages, waitMs, signal)
        }
        const insert = createInsert(context, ending.signal)
        await recordUntilAborted(signal, stream, { take, keepInProgress }, { ...tools, insert })
      } catch (error) {
        // the stream or the consumer may have been created again meanwhile
        consumer = null
        throw error
      } finally {
        cancel()
      }
    }
  }
  const liveLoop = startLoop('record', 0, context, createRound(RESULTS_STREAM, 'record'), {
    isCritical: true,
    timeoutMs: ROUND_TIMEOUT_MS,
  })
  const lateLoop = startLoop('record-late', LATE_INTERVAL_MS, context, createRound(LATE_STREAM, 'record-late'), {
    timeoutMs: ROUND_TIMEOUT_MS,
  })
  return {
    wake: monitorLoop.wake,
    async stop() {
      await Promise.all([liveLoop.stop(), lateLoop.stop(), monitorLoop.stop()])
    },
  }
}

/** Inserts until `ending` aborts. */
function createInsert({ clickhouse, onMissingSchema }: RecorderContext, ending: AbortSignal): RecorderTools['insert'] {
  return async (table, lines) => {
    try {
      await insertLines(clickhouse, `${table} (${COLUMNS[table]}) ${PARTITION_SETTINGS}`, lines, ending)
    } catch (error) {
      if (isSchemaMissing(error)) onMissingSchema?.()
      throw error
    }
  }
}
