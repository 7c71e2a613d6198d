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
import { RESULT_LINE_COLUMNS } from './result-line.ts'
import { groupBySize } from './size-groups.ts'

export type RecorderContext = LoopTools & { db: Db; nats: Nats; clickhouse: Clickhouse }

/** Messages of one insert. A probe sends up to 500 results in one. */
const MAX_BATCH_MESSAGES = 500
/** Evidence makes a result some kB long: what is decoded and printed at once stays small all the same. */
const MAX_BATCH_BYTES = 16 * 1024 * 1024
/** What comes late fills holes in the history; it never delays what is live (decisions 11.2). */
const MAX_LATE_BATCH_MESSAGES = 50
const LATE_INTERVAL_MS = 250
const FETCH_TIMEOUT_MS = 2_000
/** Partitions are days, and results of 90 days, late by up to 7, may come together: a little more than the server allows by itself. */
const PARTITION_SETTINGS = 'SETTINGS max_partitions_per_insert_block = 200'
/** An insert into a ClickHouse that hangs ends after 30 s, and a refused one is split. */
const LOOP_OPTIONS = { isCritical: true, limitMs: 120_000 }
/** A change of monitors is notified; this is for a notice that is lost. */
const REFRESH_INTERVAL_MS = 60_000

/**
 * Writes every result to ClickHouse, from durable consumers with acks: a message is acked once ClickHouse has its
 * rows. A batch that comes twice is harmless (the table replaces equal keys). Any number of processes may run it.
 */
export function startRecorder(context: RecorderContext): { stop(): Promise<void>; wake(): void } {
  const monitors = createCheckedRegionsCache(context.db)
  const tools = {
    meters: createRecorderMetrics(context),
    tries: createRetryTracker(),
    monitors,
    note: createForeignReportRecorder(context),
  }
  const follow = startLoop('record-monitors', REFRESH_INTERVAL_MS, context, () => monitors.refresh())
  const live = startLoop(
    'record',
    0,
    context,
    createRecordRound(context, tools, RESULTS_STREAM, 'record'),
    LOOP_OPTIONS,
  )
  const late = startLoop(
    'record-late',
    LATE_INTERVAL_MS,
    context,
    createRecordRound(context, tools, LATE_STREAM, 'record-late'),
  )
  return {
    wake: follow.wake,
    async stop() {
      await Promise.all([live.stop(), late.stop(), follow.stop()])
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
  const atOnce = stream === LATE_STREAM ? MAX_LATE_BATCH_MESSAGES : MAX_BATCH_MESSAGES
  let consumer: Awaited<ReturnType<typeof openDurableConsumer>> | null = null
  return async signal => {
    try {
      if (!tools.monitors.isKnown()) await tools.monitors.refresh()
      consumer ??= await openDurableConsumer(context.nats, stream, name)
      await recordUntilAborted(signal, stream, atOnce, consumer, context, tools)
    } catch (error) {
      // the stream or the consumer may have been made anew meanwhile
      consumer = null
      throw error
    }
  }
}

/** Fetches the next messages while the last ones are being written. */
async function recordUntilAborted(
  signal: AbortSignal,
  stream: string,
  atOnce: number,
  consumer: Awaited<ReturnType<typeof openDurableConsumer>>,
  context: RecorderContext,
  tools: RecorderTools,
): Promise<void> {
  let writing: Promise<void> = Promise.resolve()
  let isIdle = stream === LATE_STREAM
  try {
    while (!signal.aborted) {
      const messages = await (isIdle ? waitForMessages : fetchMessages)(consumer, atOnce, FETCH_TIMEOUT_MS)
      isIdle = messages.length === 0
      await keepInProgress(messages, writing).catch(error => {
        // what came meanwhile would wait longer than what could not be written
        nakWithDelay(messages, tools.tries)
        throw error
      })
      if (stream === LATE_STREAM) return await keepInProgress(messages, record(messages, stream, context, tools))
      writing = keepInProgress(messages, record(messages, stream, context, tools))
      // an error is met at the next `await writing`; without this it would count as unhandled until then
      writing.catch(() => {})
    }
  } finally {
    await writing
  }
}

/** Messages that were refused again and again while others were accepted come last, each alone. */
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
  const read = await decodeMessages(messages, context, tools)
  const { lines, ends } = read
  const isLastTry = messages.some(message => tries.countOf(getMessageKey(message)) >= MAX_ATTEMPTS)
  const refused = await insertBisecting(
    lines,
    async some => {
      await insertLines(context.clickhouse, `results (${RESULT_LINE_COLUMNS}) ${PARTITION_SETTINGS}`, some)
      tries.accept(some.length)
    },
    error => !isClickhouseAway(error) && (isLastTry || classifyInsertError(error as Error) !== 'server'),
    error => isLastTry || classifyInsertError(error as Error) === 'rows',
  )
  const doubtful = reportRejectedRows(refused, { messages, lines, ends }, context, tools)
  for (const message of messages) {
    const key = getMessageKey(message)
    if (doubtful.has(message)) {
      tries.refuse(key)
      message.nak(tries.pauseMs(key))
    } else {
      tries.forget(key)
      message.ack()
    }
  }
  await reportRefusedResults(read, stream, context, tools)
  meters.recorded.inc({ stream }, lines.length - refused.length)
  if (stream === LATE_STREAM) countLate(messages, ends, meters)
}

/** A message has the results of one region, the last word of its subject. */
function countLate(messages: JsMsg[], ends: number[], { late }: RecorderMetrics): void {
  for (const [i, { subject }] of messages.entries()) {
    late.inc({ region: subject.slice(subject.lastIndexOf('.') + 1) }, ends[i]! - (ends[i - 1] ?? 0))
  }
}

/**
 * Counts and logs the rows that ClickHouse refuses for good. Answers the messages of the others: they come again, whole,
 * which changes nothing for the rows that are stored.
 */
function reportRejectedRows(
  refused: RejectedItem[],
  { messages, lines, ends }: { messages: JsMsg[]; lines: string[]; ends: number[] },
  { log }: RecorderContext,
  { tries, meters }: RecorderTools,
): Set<JsMsg> {
  const doubtful = new Set<JsMsg>()
  for (const { index, error } of refused) {
    const message = messages[ends.findIndex(end => index < end)]!
    if (classifyInsertError(error) !== 'rows' && tries.countOf(getMessageKey(message)) < ATTEMPTS_BEFORE_ISOLATION)
      doubtful.add(message)
    else {
      const [monitorId, region, scheduledAtMs] = JSON.parse(lines[index]!)
      const { stream, streamSequence: sequence } = message.info
      const result = { monitorId, region, scheduledAtMs, stream, sequence }
      log.error({ err: error, ...result }, 'ClickHouse refuses a result; it is set aside')
      meters.setAside.inc({ reason: 'refused' })
    }
  }
  return doubtful
}

/**
 * Results of a monitor that is not known here, or of a region that does not check it, are judged by what is configured now: the
 * change may be younger than what is known here. While PostgreSQL cannot be asked it is recorded, so that nothing true is lost.
 */
async function decodeMessages(
  messages: JsMsg[],
  { log }: RecorderContext,
  { monitors }: RecorderTools,
): Promise<MessageLines> {
  const read = toMessageLines(messages, monitors)
  if (read.isSure) return read
  try {
    await monitors.refresh()
    return toMessageLines(messages, monitors)
  } catch (error) {
    log.warn({ err: error }, 'results are recorded without a look at where their monitors are checked')
    return toMessageLines(messages, null)
  }
}

/** Once for a group that is written, so that a group that comes again is not counted twice. */
async function reportRefusedResults(
  { refused, foreign }: MessageLines,
  stream: string,
  { log }: RecorderContext,
  { meters, note }: RecorderTools,
): Promise<void> {
  for (const [reason, count] of Object.entries(refused)) {
    log.warn({ reason, count, stream }, 'results that cannot be recorded were set aside')
    meters.setAside.inc({ reason }, count)
  }
  for (const [region, newest] of foreign) await note({ region, what: 'result', ...newest })
}

function createRecorderMetrics({ metrics }: RecorderContext) {
  const setAside = metrics.counter('picket_results_unrecordable_total', 'Results set aside, not written', ['reason'])
  return {
    recorded: metrics.counter('picket_results_recorded_total', 'Results written to ClickHouse', ['stream']),
    late: metrics.counter('picket_results_late_total', 'Results written that came too late for a verdict', ['region']),
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
