import { fromZero } from '../../shared/from-zero.ts'
import { LATE_STREAM, RESULTS_STREAM } from '../../shared/subjects.ts'
import { type CheckedMonitors, createCheckedMonitors } from '../monitors/checked-regions-actions.ts'
import { createNoteForeign, type NoteForeign } from '../monitors/foreign-actions.ts'
import { type Clickhouse, insertLines, isClickhouseAway } from '../platform/clickhouse.ts'
import { awaitMessages, durableConsumer, fetchMessages, type JsMsg, keepInHand } from '../platform/durable-consumer.ts'
import { type LoopTools, startLoop } from '../platform/loop.ts'
import type { Nats } from '../platform/nats.ts'
import type { Db } from '../platform/postgres.ts'
import { inGroups } from './groups.ts'
import { insertHalving, type Refused } from './halving.ts'
import { type Lines, linesOf } from './lines.ts'
import { createTries, refusalOf, TRIES_AT_MOST, TRIES_BEFORE_ALONE, type Tries } from './refusals.ts'
import { LINE_COLUMNS } from './row.ts'

export type RecordContext = LoopTools & { db: Db; nats: Nats; clickhouse: Clickhouse }

/** Messages of one insert. A probe sends up to 500 results in one. */
const MESSAGES_AT_ONCE = 500
/** Evidence makes a result some kB long: what is decoded and printed at once stays small all the same. */
const BYTES_AT_ONCE = 16 * 1024 * 1024
/** What comes late fills holes in the history; it never delays what is live (decisions 11.2). */
const LATE_MESSAGES_AT_ONCE = 50
const LATE_PAUSE_MS = 250
const FETCH_WAIT_MS = 2_000
/** Partitions are days, and results of 90 days, late by up to 7, may come together: a little more than the server allows by itself. */
const MANY_DAYS = 'SETTINGS max_partitions_per_insert_block = 200'
/** An insert into a ClickHouse that hangs ends after 30 s, and a refused one is split. */
const LIMITS = { isCritical: true, limitMs: 120_000 }
/** A change of monitors is notified; this is for a notice that is lost. */
const FOLLOW_EVERY_MS = 60_000

/**
 * Writes every result to ClickHouse, from durable consumers with acks: a message is acked once ClickHouse has its
 * rows. A batch that comes twice is harmless (the table replaces equal keys). Any number of processes may run it.
 */
export function startRecorder(context: RecordContext): { stop(): Promise<void>; wake(): void } {
  const monitors = createCheckedMonitors(context.db)
  const tools = { meters: recorderMeters(context), tries: createTries(), monitors, note: createNoteForeign(context) }
  const follow = startLoop('record-monitors', FOLLOW_EVERY_MS, context, () => monitors.refresh())
  const live = startLoop('record', 0, context, recordRounds(context, tools, RESULTS_STREAM, 'record'), LIMITS)
  const late = startLoop(
    'record-late',
    LATE_PAUSE_MS,
    context,
    recordRounds(context, tools, LATE_STREAM, 'record-late'),
  )
  return {
    wake: follow.wake,
    async stop() {
      await Promise.all([live.stop(), late.stop(), follow.stop()])
    },
  }
}

type Meters = ReturnType<typeof recorderMeters>
type Tools = { meters: Meters; tries: Tries; monitors: CheckedMonitors; note: NoteForeign }

function recordRounds(
  context: RecordContext,
  tools: Tools,
  stream: string,
  name: string,
): Parameters<typeof startLoop>[3] {
  const atOnce = stream === LATE_STREAM ? LATE_MESSAGES_AT_ONCE : MESSAGES_AT_ONCE
  let consumer: Awaited<ReturnType<typeof durableConsumer>> | null = null
  return async signal => {
    try {
      if (!tools.monitors.isKnown()) await tools.monitors.refresh()
      consumer ??= await durableConsumer(context.nats, stream, name)
      await recordUntil(signal, stream, atOnce, consumer, context, tools)
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
  tools: Tools,
): Promise<void> {
  let writing: Promise<void> = Promise.resolve()
  let isIdle = stream === LATE_STREAM
  try {
    while (!signal.aborted) {
      const messages = await (isIdle ? awaitMessages : fetchMessages)(consumer, atOnce, FETCH_WAIT_MS)
      isIdle = messages.length === 0
      await keepInHand(messages, writing).catch(error => {
        // what came meanwhile would wait longer than what could not be written
        putOff(messages, tools.tries)
        throw error
      })
      if (stream === LATE_STREAM) return await keepInHand(messages, record(messages, stream, context, tools))
      writing = keepInHand(messages, record(messages, stream, context, tools))
      // an error is met at the next `await writing`; without this it would count as unhandled until then
      writing.catch(() => {})
    }
  } finally {
    await writing
  }
}

/** Messages that were refused again and again while others were accepted come last, each alone. */
async function record(messages: JsMsg[], stream: string, context: RecordContext, tools: Tools): Promise<void> {
  const isSuspect = (message: JsMsg) => tools.tries.countOf(keyOf(message)) >= TRIES_BEFORE_ALONE
  const groups = inGroups(
    messages.filter(message => !isSuspect(message)),
    ({ data }) => data.length,
    BYTES_AT_ONCE,
  ).concat(messages.filter(isSuspect).map(message => [message]))
  for (const [i, group] of groups.entries()) {
    try {
      await recordGroup(group, stream, context, tools)
    } catch (error) {
      if (!isClickhouseAway(error)) for (const message of group) tools.tries.refuse(keyOf(message))
      putOff(groups.slice(i).flat(), tools.tries)
      throw error
    }
  }
}

const keyOf = ({ info }: JsMsg) => `${info.stream} ${info.streamSequence}`

function putOff(messages: JsMsg[], tries: Tries): void {
  for (const message of messages) message.nak(tries.pauseMs(keyOf(message)))
}

async function recordGroup(messages: JsMsg[], stream: string, context: RecordContext, tools: Tools): Promise<void> {
  const { tries, meters } = tools
  const read = await readLines(messages, context, tools)
  const { lines, ends } = read
  const isLastTry = messages.some(message => tries.countOf(keyOf(message)) >= TRIES_AT_MOST)
  const refused = await insertHalving(
    lines,
    async some => {
      await insertLines(context.clickhouse, `results (${LINE_COLUMNS}) ${MANY_DAYS}`, some)
      tries.accept(some.length)
    },
    error => !isClickhouseAway(error) && (isLastTry || refusalOf(error as Error) !== 'server'),
    error => isLastTry || refusalOf(error as Error) === 'rows',
  )
  const doubtful = setAside(refused, { messages, lines, ends }, context, tools)
  for (const message of messages) {
    const key = keyOf(message)
    if (doubtful.has(message)) {
      tries.refuse(key)
      message.nak(tries.pauseMs(key))
    } else {
      tries.forget(key)
      message.ack()
    }
  }
  await noteRefused(read, stream, context, tools)
  meters.recorded.inc({ stream }, lines.length - refused.length)
  if (stream === LATE_STREAM) countLate(messages, ends, meters)
}

/** A message has the results of one region, the last word of its subject. */
function countLate(messages: JsMsg[], ends: number[], { late }: Meters): void {
  for (const [i, { subject }] of messages.entries()) {
    late.inc({ region: subject.slice(subject.lastIndexOf('.') + 1) }, ends[i]! - (ends[i - 1] ?? 0))
  }
}

/**
 * Counts and logs the rows that ClickHouse refuses for good. Answers the messages of the others: they come again, whole,
 * which changes nothing for the rows that are stored.
 */
function setAside(
  refused: Refused[],
  { messages, lines, ends }: { messages: JsMsg[]; lines: string[]; ends: number[] },
  { log }: RecordContext,
  { tries, meters }: Tools,
): Set<JsMsg> {
  const doubtful = new Set<JsMsg>()
  for (const { index, error } of refused) {
    const message = messages[ends.findIndex(end => index < end)]!
    if (refusalOf(error) !== 'rows' && tries.countOf(keyOf(message)) < TRIES_BEFORE_ALONE) doubtful.add(message)
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
async function readLines(messages: JsMsg[], { log }: RecordContext, { monitors }: Tools): Promise<Lines> {
  const read = linesOf(messages, monitors)
  if (read.isSure) return read
  try {
    await monitors.refresh()
    return linesOf(messages, monitors)
  } catch (error) {
    log.warn({ err: error }, 'results are recorded without a look at where their monitors are checked')
    return linesOf(messages, null)
  }
}

/** Once for a group that is written, so that a group that comes again is not counted twice. */
async function noteRefused(
  { refused, foreign }: Lines,
  stream: string,
  { log }: RecordContext,
  { meters, note }: Tools,
): Promise<void> {
  for (const [reason, count] of Object.entries(refused)) {
    log.warn({ reason, count, stream }, 'results that cannot be recorded were set aside')
    meters.setAside.inc({ reason }, count)
  }
  for (const [region, newest] of foreign) await note({ region, what: 'result', ...newest })
}

function recorderMeters({ metrics }: RecordContext) {
  const setAside = metrics.counter('picket_results_unrecordable_total', 'Results set aside, not written', ['reason'])
  return {
    recorded: metrics.counter('picket_results_recorded_total', 'Results written to ClickHouse', ['stream']),
    late: metrics.counter('picket_results_late_total', 'Results written that came too late for a verdict', ['region']),
    setAside: fromZero(setAside, 'reason', [
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
