import { ResultBatch } from '../../shared/result.ts'
import { LATE_STREAM, RESULTS_STREAM } from '../../shared/subjects.ts'
import { type Clickhouse, insertLines, isClickhouseAway } from '../platform/clickhouse.ts'
import { durableConsumer, fetchMessages, type JsMsg, keepInHand } from '../platform/durable-consumer.ts'
import { type LoopTools, startLoop } from '../platform/loop.ts'
import type { Nats } from '../platform/nats.ts'
import { inGroups } from './groups.ts'
import { isRecordable, LINE_COLUMNS, originOf, toLine } from './row.ts'

export type RecordContext = LoopTools & { nats: Nats; clickhouse: Clickhouse }

/** Messages of one insert. A probe sends up to 500 results in one. */
const MESSAGES_AT_ONCE = 500
/** Evidence makes a result some kB long: what is decoded and printed at once stays small all the same. */
const BYTES_AT_ONCE = 16 * 1024 * 1024
/** What comes late fills holes in the history; it never delays what is live (decisions 11.2). */
const LATE_MESSAGES_AT_ONCE = 50
const LATE_PAUSE_MS = 250
const FETCH_WAIT_MS = 1_000
/** ClickHouse is away: the same messages come again so much later. */
const RETRY_AFTER_MS = 2_000

/**
 * Writes every result to ClickHouse, from durable consumers with acks: a message is acked once ClickHouse has its
 * rows. A batch that comes twice is harmless (the table replaces equal keys). Any number of processes may run it.
 */
export function startRecorder(context: RecordContext): { stop(): Promise<void> } {
  const meters = recorderMeters(context)
  const live = startLoop('record', 0, context, recordRounds(context, meters, RESULTS_STREAM, 'record'))
  const late = startLoop(
    'record-late',
    LATE_PAUSE_MS,
    context,
    recordRounds(context, meters, LATE_STREAM, 'record-late'),
  )
  return {
    async stop() {
      await Promise.all([live.stop(), late.stop()])
    },
  }
}

type Meters = ReturnType<typeof recorderMeters>

function recordRounds(
  context: RecordContext,
  meters: Meters,
  stream: string,
  name: string,
): Parameters<typeof startLoop>[3] {
  const atOnce = stream === LATE_STREAM ? LATE_MESSAGES_AT_ONCE : MESSAGES_AT_ONCE
  let consumer: Awaited<ReturnType<typeof durableConsumer>> | null = null
  return async signal => {
    try {
      consumer ??= await durableConsumer(context.nats, stream, name)
      await recordUntil(signal, stream, atOnce, consumer, context, meters)
    } catch (error) {
      // the stream or the consumer may have been made anew meanwhile
      consumer = null
      throw error
    }
  }
}

/** Fetches the next messages while the last ones are being written. */
async function recordUntil(
  signal: AbortSignal,
  stream: string,
  atOnce: number,
  consumer: Awaited<ReturnType<typeof durableConsumer>>,
  context: RecordContext,
  meters: Meters,
): Promise<void> {
  let writing: Promise<void> = Promise.resolve()
  try {
    while (!signal.aborted) {
      const messages = await fetchMessages(consumer, atOnce, FETCH_WAIT_MS)
      await keepInHand(messages, writing).catch(error => {
        // what came meanwhile would wait longer than what could not be written
        putOff(messages)
        throw error
      })
      if (stream === LATE_STREAM) return await keepInHand(messages, record(messages, stream, context, meters))
      writing = keepInHand(messages, record(messages, stream, context, meters))
      // an error is met at the next `await writing`; without this it would count as unhandled until then
      writing.catch(() => {})
    }
  } finally {
    await writing
  }
}

async function record(messages: JsMsg[], stream: string, context: RecordContext, meters: Meters): Promise<void> {
  const groups = inGroups(messages, ({ data }) => data.length, BYTES_AT_ONCE)
  for (const [i, group] of groups.entries()) {
    try {
      await recordGroup(group, stream, context, meters)
    } catch (error) {
      putOff(groups.slice(i).flat())
      throw error
    }
  }
}

function putOff(messages: JsMsg[]): void {
  for (const message of messages) message.nak(RETRY_AFTER_MS)
}

async function recordGroup(messages: JsMsg[], stream: string, context: RecordContext, meters: Meters): Promise<void> {
  const { lines, refused } = toLines(messages)
  if (refused > 0) {
    context.log.warn({ refused, stream }, 'results that cannot be recorded were set aside')
    meters.setAside.inc(refused)
  }
  if (lines.length > 0) await insertOrSplit(lines, context, meters)
  for (const message of messages) message.ack()
  meters.recorded.inc({ stream }, lines.length)
}

function toLines(messages: JsMsg[]): { lines: string[]; refused: number } {
  const lines: string[] = []
  let refused = 0
  for (const message of messages) {
    try {
      const batch = ResultBatch.decode(message.data)
      const origin = originOf(batch)
      for (const result of batch.results) {
        if (isRecordable(result)) lines.push(toLine(result, origin))
        else refused++
      }
    } catch {
      refused++
    }
  }
  return { lines, refused }
}

/** A row that ClickHouse itself refuses must not hold up its neighbours for ever: halve until it stands alone. */
async function insertOrSplit(lines: string[], context: RecordContext, meters: Meters): Promise<void> {
  try {
    await insertLines(context.clickhouse, `results (${LINE_COLUMNS})`, lines)
  } catch (error) {
    if (isClickhouseAway(error) || !isAboutData(error)) throw error
    if (lines.length === 1) {
      context.log.error({ err: error }, 'ClickHouse refuses a result; it is set aside')
      return meters.setAside.inc()
    }
    const middle = lines.length >> 1
    await insertOrSplit(lines.slice(0, middle), context, meters)
    await insertOrSplit(lines.slice(middle), context, meters)
  }
}

/** ClickHouse's codes for values that it cannot parse: 6, 26, 27, 41, 69, 117, 131, 321, 441, 376, 53. */
const DATA_CODES = new Set(['6', '26', '27', '41', '53', '69', '117', '131', '321', '376', '441'])
const isAboutData = (error: unknown) => DATA_CODES.has((error as { code?: string }).code ?? '')

function recorderMeters({ metrics }: RecordContext) {
  return {
    recorded: metrics.counter('picket_results_recorded_total', 'Results written to ClickHouse', ['stream']),
    setAside: metrics.counter('picket_results_unrecordable_total', 'Results that could not be written'),
  }
}
