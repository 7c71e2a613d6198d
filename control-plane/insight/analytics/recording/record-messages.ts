import { LATE_STREAM } from '../../../../shared/nats/subjects.ts'
import type { Log } from '../../../../shared/process/log.ts'
import type { YieldPoint } from '../../../foundation/platform/time/clock.ts'
import type { CheckedRegionsCache } from '../../../monitoring/monitors/report-regions/checked-regions-actions.ts'
import type { ForeignReportRecorder } from '../../../monitoring/monitors/report-regions/foreign-report-actions.ts'
import { DATA_SOURCE_REGION } from '../../../monitoring/monitors/types.ts'
import { insertBisecting, type RejectedItem } from './bisecting-insert.ts'
import { ATTEMPTS_BEFORE_ISOLATION, classifyInsertError, MAX_ATTEMPTS, type RetryTracker } from './insert-errors.ts'
import type { LineBuffer } from './line-buffer.ts'
import { type MessageLines, toMessageLines } from './message-lines.ts'
import type { RecorderMetrics } from './recorder-metrics.ts'
import { groupBySize } from './size-groups.ts'

/** Evidence adds some kB to a result, so the size of an insert is limited, too. */
const MAX_BATCH_BYTES = 16 * 1024 * 1024

/** A message of a durable consumer. */
export type FetchedMessage = Parameters<typeof toMessageLines>[0][number] & {
  ack(): void
  /** It is delivered again after this time. */
  nak(delayMs: number): void
}

export type MessageSource<Message> = {
  /** Waits for the next messages. `isIdle`: there were none in the previous call, or this is the first one. */
  take(isIdle: boolean): Promise<Message[]>
  /** The result of `work`. Until it ends, none of `messages` is delivered again. */
  keepInProgress<T>(messages: Message[], work: Promise<T>): Promise<T>
}

/** ClickHouse and what else a recorder uses. Nothing here opens a connection or sets a timer. */
export type RecorderTools = {
  log: Log
  metrics: RecorderMetrics
  tries: RetryTracker
  monitors: Pick<CheckedRegionsCache, 'of' | 'refresh'>
  note: ForeignReportRecorder
  /** null: decoding never yields to other work */
  yieldPoint: YieldPoint | null
  /** Resolves when ClickHouse has stored the lines, which are UTF-8. */
  insert(table: 'results' | 'witness_checks', lines: Buffer): Promise<void>
  /** False for an error by which ClickHouse rejected the data or the query. */
  isAway(error: unknown): boolean
}

/**
 * Records the messages of a stream, and fetches the next ones while the previous ones are being written. Late results are
 * recorded once and not until the signal is aborted.
 */
export async function recordUntilAborted<Message extends FetchedMessage>(
  signal: AbortSignal,
  stream: string,
  source: MessageSource<Message>,
  tools: RecorderTools,
): Promise<void> {
  let writing: Promise<void> = Promise.resolve()
  let isIdle = true
  try {
    while (!signal.aborted) {
      const messages = await source.take(isIdle)
      isIdle = messages.length === 0
      await source.keepInProgress(messages, writing).catch(error => {
        // otherwise these messages would wait longer than those that could not be written
        nakWithDelay(messages, tools.tries)
        throw error
      })
      if (stream === LATE_STREAM) return await source.keepInProgress(messages, record(messages, stream, tools))
      writing = source.keepInProgress(messages, record(messages, stream, tools))
      // the error is thrown at the next `await writing`; until then it must not count as unhandled
      writing.catch(() => {})
    }
  } finally {
    await writing
  }
}

/** Messages that were rejected repeatedly while others were accepted are inserted last, each alone. */
async function record(messages: FetchedMessage[], stream: string, tools: RecorderTools): Promise<void> {
  const isSuspect = (message: FetchedMessage) =>
    tools.tries.getCount(getMessageKey(message)) >= ATTEMPTS_BEFORE_ISOLATION
  const groups = groupBySize(
    messages.filter(message => !isSuspect(message)),
    ({ data }) => data.length,
    MAX_BATCH_BYTES,
  ).concat(messages.filter(isSuspect).map(message => [message]))
  for (const [i, group] of groups.entries()) {
    try {
      await recordBatch(group, stream, tools)
    } catch (error) {
      if (!tools.isAway(error)) for (const message of group) tools.tries.refuse(getMessageKey(message))
      nakWithDelay(groups.slice(i).flat(), tools.tries)
      throw error
    }
  }
}

const getMessageKey = ({ info }: FetchedMessage) => `${info.stream} ${info.streamSequence}`

function nakWithDelay(messages: FetchedMessage[], tries: RetryTracker): void {
  for (const message of messages) message.nak(tries.pauseMs(getMessageKey(message)))
}

/** Rows of messages for one table. `ends`: for each message, the number of lines up to its last one. */
type TableRows = { table: 'results' | 'witness_checks'; lines: LineBuffer; ends: number[] }

async function recordBatch(messages: FetchedMessage[], stream: string, tools: RecorderTools): Promise<void> {
  const { tries, metrics } = tools
  const decoded = await decodeMessages(messages, tools)
  const { lines, ends } = decoded
  const results: TableRows = { table: 'results', lines, ends }
  const witnesses: TableRows = { table: 'witness_checks', lines: decoded.witnesses, ends: decoded.witnessEnds }
  const rejected = await insertRows(results, messages, tools)
  const rejectedWitnesses = await insertRows(witnesses, messages, tools)
  const retried = new Set([
    ...reportRejectedRows(rejected, results, messages, tools),
    ...reportRejectedRows(rejectedWitnesses, witnesses, messages, tools),
  ])
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
  await reportRefusedResults(decoded, stream, tools)
  metrics.recorded.inc({ stream }, lines.count() - rejected.length)
  if (stream === LATE_STREAM) countLate(messages, ends, metrics)
}

/** Inserts the rows of messages, and returns those that were rejected alone (docs/design/history.md#rejected-rows). */
function insertRows(
  { table, lines }: TableRows,
  messages: FetchedMessage[],
  { tries, insert, isAway }: RecorderTools,
): Promise<RejectedItem[]> {
  const isLastAttempt = messages.some(message => tries.getCount(getMessageKey(message)) >= MAX_ATTEMPTS)
  return insertBisecting(
    lines.count(),
    async (from, to) => {
      await insert(table, lines.slice(from, to))
      tries.accept(to - from)
    },
    error => !isAway(error) && (isLastAttempt || classifyInsertError(error as Error) !== 'server'),
    error => isLastAttempt || classifyInsertError(error as Error) === 'rows',
  )
}

/** A message has the results of one region, the last token of its subject. Values of data sources have no verdict to be late for. */
function countLate(messages: FetchedMessage[], ends: number[], { late }: RecorderMetrics): void {
  for (const [i, { subject }] of messages.entries()) {
    const region = subject.slice(subject.lastIndexOf('.') + 1)
    if (region !== DATA_SOURCE_REGION) late.inc({ region }, ends[i]! - (ends[i - 1] ?? 0))
  }
}

/**
 * Counts and logs the rows that ClickHouse rejects permanently. Returns the messages of the other rejected rows: they
 * are delivered again as a whole, which changes nothing for rows that are stored.
 */
function reportRejectedRows(
  rejected: RejectedItem[],
  { table, lines, ends }: TableRows,
  messages: FetchedMessage[],
  { log, tries, metrics }: RecorderTools,
): Set<FetchedMessage> {
  const retried = new Set<FetchedMessage>()
  for (const { index, error } of rejected) {
    const message = messages[ends.findIndex(end => index < end)]!
    if (classifyInsertError(error) !== 'rows' && tries.getCount(getMessageKey(message)) < ATTEMPTS_BEFORE_ISOLATION)
      retried.add(message)
    else {
      const [monitorId, region, scheduledAtMs] = JSON.parse(lines.slice(index, index + 1).toString())
      const { stream, streamSequence: sequence } = message.info
      const result = { table, monitorId, region, scheduledAtMs, stream, sequence }
      log.error({ err: error, ...result }, 'ClickHouse rejected a result; it is set aside')
      metrics.setAside.inc({ reason: 'refused' })
    }
  }
  return retried
}

/**
 * Decodes messages. When a result is of an unknown monitor, or of a region that does not check it, the regions are read
 * again, because the cache may be outdated. If PostgreSQL does not answer, the results are recorded
 * (docs/design/history.md#whose-results).
 */
async function decodeMessages(messages: FetchedMessage[], tools: RecorderTools): Promise<MessageLines> {
  const { log, monitors, yieldPoint } = tools
  const decoded = await toMessageLines(messages, monitors, yieldPoint)
  if (decoded.isSure) return decoded
  try {
    await monitors.refresh()
    return await toMessageLines(messages, monitors, yieldPoint)
  } catch (error) {
    log.warn({ err: error }, 'the regions of monitors could not be read; results are recorded unchecked')
    return toMessageLines(messages, null, yieldPoint)
  }
}

/** Called after a group is written, so that a redelivered group is not counted twice. */
async function reportRefusedResults(
  { refused, foreign }: MessageLines,
  stream: string,
  { log, metrics, note }: RecorderTools,
): Promise<void> {
  for (const [reason, count] of Object.entries(refused)) {
    log.warn({ reason, count, stream }, 'results could not be recorded and were set aside')
    metrics.setAside.inc({ reason }, count)
  }
  for (const [region, newest] of foreign) await note({ region, what: 'result', ...newest })
}
