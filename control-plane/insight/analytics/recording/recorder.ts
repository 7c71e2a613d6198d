import { LATE_STREAM, RESULTS_STREAM } from '../../../../shared/nats/subjects.ts'
import { initializeCounter } from '../../../../shared/process/zero-counters.ts'
import { type Clickhouse, insertLines, isClickhouseAway } from '../../../foundation/platform/clickhouse.ts'
import type { Nats } from '../../../foundation/platform/nats/client.ts'
import {
  fetchMessages,
  type JsMsg,
  keepInProgress,
  openDurableConsumer,
  waitForMessages,
} from '../../../foundation/platform/nats/durable-consumer.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { type LoopTools, startLoop } from '../../../foundation/platform/time/loop.ts'
import {
  type CheckedRegionsCache,
  createCheckedRegionsCache,
} from '../../../monitoring/monitors/report-regions/checked-regions-actions.ts'
import {
  createForeignReportRecorder,
  type ForeignReportRecorder,
} from '../../../monitoring/monitors/report-regions/foreign-report-actions.ts'
import { insertBisecting, type RejectedItem } from './bisecting-insert.ts'
import {
  ATTEMPTS_BEFORE_ISOLATION,
  classifyInsertError,
  createRetryTracker,
  MAX_ATTEMPTS,
  type RetryTracker,
} from './insert-errors.ts'
import { type MessageLines, toMessageLines } from './message-lines.ts'
import { RESULT_LINE_COLUMNS, WITNESS_LINE_COLUMNS } from './result-line.ts'
import { groupBySize } from './size-groups.ts'

export type RecorderContext = LoopTools & { db: Db; nats: Nats; clickhouse: Clickhouse }

/** Messages per insert. A message of a probe has up to 500 results. */
const MAX_BATCH_MESSAGES = 500
/** Evidence adds some kB to a result, so the size of an insert is limited, too. */
const MAX_BATCH_BYTES = 16 * 1024 * 1024
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
/** An insert into a ClickHouse that hangs ends after 30 s, and a rejected one is split. */
const LOOP_OPTIONS = { isCritical: true, limitMs: 120_000 }
/** Changes of monitors arrive as notifications; this covers lost ones. */
const REFRESH_INTERVAL_MS = 60_000

/**
 * Writes all results to ClickHouse (docs/design/history.md#recorder). A message of the durable consumers is
 * acknowledged after ClickHouse has stored its rows. A repeated batch changes nothing, because the table replaces equal
 * keys. Any number of processes may run it.
 */
export function startRecorder(context: RecorderContext): { stop(): Promise<void>; wake(): void } {
  const monitors = createCheckedRegionsCache(context.db)
  const tools = {
    meters: createRecorderMetrics(context),
    tries: createRetryTracker(),
    monitors,
    note: createForeignReportRecorder(context),
  }
  const monitorLoop = startLoop('record-monitors', REFRESH_INTERVAL_MS, context, () => monitors.refresh())
  const recordLive = createRecordRound(context, tools, RESULTS_STREAM, 'record')
  const liveLoop = startLoop('record', 0, context, recordLive, LOOP_OPTIONS)
  const recordLate = createRecordRound(context, tools, LATE_STREAM, 'record-late')
  const lateLoop = startLoop('record-late', LATE_INTERVAL_MS, context, recordLate)
  return {
    wake: monitorLoop.wake,
    async stop() {
      await Promise.all([liveLoop.stop(), lateLoop.stop(), monitorLoop.stop()])
    },
  }
}

type RecorderMetrics = ReturnType<typeof createRecorderMetrics>
type RecorderTools = {
  meters: RecorderMetrics
  tries: RetryTracker
  monitors: CheckedRegionsCache
  note: ForeignReportRecorder
}

function createRecordRound(
  context: RecorderContext,
  tools: RecorderTools,
  stream: string,
  name: string,
): Parameters<typeof startLoop>[3] {
  const maxMessages = stream === LATE_STREAM ? MAX_LATE_BATCH_MESSAGES : MAX_BATCH_MESSAGES
  let consumer: Awaited<ReturnType<typeof openDurableConsumer>> | null = null
  return async signal => {
    try {
      if (!tools.monitors.isKnown()) await tools.monitors.refresh()
      consumer ??= await openDurableConsumer(context.nats, stream, name)
      await recordUntilAborted(signal, stream, maxMessages, consumer, context, tools)
    } catch (error) {
      // the stream or the consumer may have been created again meanwhile
      consumer = null
      throw error
    }
  }
}

/** Fetches the next messages while the previous ones are being written. */
async function recordUntilAborted(
  signal: AbortSignal,
  stream: string,
  maxMessages: number,
  consumer: Awaited<ReturnType<typeof openDurableConsumer>>,
  context: RecorderContext,
  tools: RecorderTools,
): Promise<void> {
  let writing: Promise<void> = Promise.resolve()
  let isIdle = true
  try {
    while (!signal.aborted) {
      const [take, waitMs] = isIdle ? IDLE_FETCH : STEADY_FETCH
      const messages: JsMsg[] = await take(consumer, maxMessages, waitMs, signal)
      isIdle = messages.length === 0
      await keepInProgress(messages, writing).catch(error => {
        // otherwise these messages would wait longer than those that could not be written
        nakWithDelay(messages, tools.tries)
        throw error
      })
      if (stream === LATE_STREAM) return await keepInProgress(messages, record(messages, stream, context, tools))
      writing = keepInProgress(messages, record(messages, stream, context, tools))
      // the error is thrown at the next `await writing`; until then it must not count as unhandled
      writing.catch(() => {})
    }
  } finally {
    await writing
  }
}

/** Messages that were rejected repeatedly while others were accepted are inserted last, each alone. */
async function record(
  messages: JsMsg[],
  stream: string,
  context: RecorderContext,
  tools: RecorderTools,
): Promise<void> {
  const isSuspect = (message: JsMsg) => tools.tries.countOf(getMessageKey(message)) >= ATTEMPTS_BEFORE_ISOLATION
  const groups = groupBySize(
    messages.filter(message => !isSuspect(message)),
    ({ data }) => data.length,
    MAX_BATCH_BYTES,
  ).concat(messages.filter(isSuspect).map(message => [message]))
  for (const [i, group] of groups.entries()) {
    try {
      await recordBatch(group, stream, context, tools)
    } catch (error) {
      if (!isClickhouseAway(error)) for (const message of group) tools.tries.refuse(getMessageKey(message))
      nakWithDelay(groups.slice(i).flat(), tools.tries)
      throw error
    }
  }
}

const getMessageKey = ({ info }: JsMsg) => `${info.stream} ${info.streamSequence}`

function nakWithDelay(messages: JsMsg[], tries: RetryTracker): void {
  for (const message of messages) message.nak(tries.pauseMs(getMessageKey(message)))
}

async function recordBatch(
  messages: JsMsg[],
  stream: string,
  context: RecorderContext,
  tools: RecorderTools,
): Promise<void> {
  const { tries, meters } = tools
  const decoded = await decodeMessages(messages, context, tools)
  const { lines, ends } = decoded
  const isLastAttempt = messages.some(message => tries.countOf(getMessageKey(message)) >= MAX_ATTEMPTS)
  const rejected = await insertBisecting(
    lines,
    async some => {
      await insertLines(context.clickhouse, `results (${RESULT_LINE_COLUMNS}) ${PARTITION_SETTINGS}`, some)
      tries.accept(some.length)
    },
    error => !isClickhouseAway(error) && (isLastAttempt || classifyInsertError(error as Error) !== 'server'),
    error => isLastAttempt || classifyInsertError(error as Error) === 'rows',
  )
  if (decoded.witnesses.length > 0)
    await insertLines(
      context.clickhouse,
      `witness_checks (${WITNESS_LINE_COLUMNS}) ${PARTITION_SETTINGS}`,
      decoded.witnesses,
    )
  const retried = reportRejectedRows(rejected, { messages, lines, ends }, context, tools)
  for (const message of messages) {
    const key = getMessageKey(message)
    if (retried.has(message)) {
      tries.refuse(key)
      message.nak(tries.pauseMs(key))
    } else {
      tries.forget(key)
      message.ack()
    }
  }
  await reportRefusedResults(decoded, stream, context, tools)
  meters.recorded.inc({ stream }, lines.length - rejected.length)
  if (stream === LATE_STREAM) countLate(messages, ends, meters)
}

/** A message has the results of one region, the last token of its subject. */
function countLate(messages: JsMsg[], ends: number[], { late }: RecorderMetrics): void {
  for (const [i, { subject }] of messages.entries()) {
    late.inc({ region: subject.slice(subject.lastIndexOf('.') + 1) }, ends[i]! - (ends[i - 1] ?? 0))
  }
}

/**
 * Counts and logs the rows that ClickHouse rejects permanently. Returns the messages of the other rejected rows: they
 * are delivered again as a whole, which changes nothing for rows that are stored.
 */
function reportRejectedRows(
  rejected: RejectedItem[],
  { messages, lines, ends }: { messages: JsMsg[]; lines: string[]; ends: number[] },
  { log }: RecorderContext,
  { tries, meters }: RecorderTools,
): Set<JsMsg> {
  const retried = new Set<JsMsg>()
  for (const { index, error } of rejected) {
    const message = messages[ends.findIndex(end => index < end)]!
    if (classifyInsertError(error) !== 'rows' && tries.countOf(getMessageKey(message)) < ATTEMPTS_BEFORE_ISOLATION)
      retried.add(message)
    else {
      const [monitorId, region, scheduledAtMs] = JSON.parse(lines[index]!)
      const { stream, streamSequence: sequence } = message.info
      const result = { monitorId, region, scheduledAtMs, stream, sequence }
      log.error({ err: error, ...result }, 'ClickHouse rejected a result; it is set aside')
      meters.setAside.inc({ reason: 'refused' })
    }
  }
  return retried
}

/**
 * Decodes messages. When a result is of an unknown monitor, or of a region that does not check it, the regions are read
 * again, because the cache may be outdated. If PostgreSQL does not answer, the results are recorded
 * (docs/design/history.md#whose-results).
 */
async function decodeMessages(
  messages: JsMsg[],
  { log }: RecorderContext,
  { monitors }: RecorderTools,
): Promise<MessageLines> {
  const decoded = toMessageLines(messages, monitors)
  if (decoded.isSure) return decoded
  try {
    await monitors.refresh()
    return toMessageLines(messages, monitors)
  } catch (error) {
    log.warn({ err: error }, 'the regions of monitors could not be read; results are recorded unchecked')
    return toMessageLines(messages, null)
  }
}

/** Called after a group is written, so that a redelivered group is not counted twice. */
async function reportRefusedResults(
  { refused, foreign }: MessageLines,
  stream: string,
  { log }: RecorderContext,
  { meters, note }: RecorderTools,
): Promise<void> {
  for (const [reason, count] of Object.entries(refused)) {
    log.warn({ reason, count, stream }, 'results could not be recorded and were set aside')
    meters.setAside.inc({ reason }, count)
  }
  for (const [region, newest] of foreign) await note({ region, what: 'result', ...newest })
}

function createRecorderMetrics({ metrics }: RecorderContext) {
  const setAside = metrics.counter('picket_results_unrecordable_total', 'Results set aside, not written', ['reason'])
  return {
    recorded: metrics.counter('picket_results_recorded_total', 'Results written to ClickHouse', ['stream']),
    late: metrics.counter('picket_results_late_total', 'Results written, too late for a verdict', ['region']),
    setAside: initializeCounter(setAside, 'reason', [
      'unreadable',
      'malformed',
      'too_old',
      'in_future',
      'refused',
      'foreign',
      'left_region',
    ]),
  }
}
