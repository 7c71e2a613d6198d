import type { HistoryRecord, HistoryViolation, StoredMessage } from './chronicle.ts'
import { createHistoryLimits, type JudgedFacts } from './history-limits.ts'

/** Judges the history while the simulation runs, and forgets what is judged. Times in ms since the beginning. */
export type HistoryOracle = {
  /** JetStream has stored a message. */
  stored: (message: StoredMessage) => void
  /** JetStream has removed the messages before this one. */
  forgotten: (firstSequence: number, atMs: number) => void
  delivered: (isAgain: boolean) => void
  /** ClickHouse has stored rows. */
  recorded: (keys: readonly string[], atMs: number) => void
  acknowledged: (sequence: number, atMs: number) => void
  finish: (atMs: number) => HistoryRecord
}

/** Longer than JetStream keeps messages, so that a repeated row is recognized. */
const REMEMBERED_MS = 60 * 60_000
/** More violations of one kind are only counted. */
const MAX_LISTED = 100
/** Judged messages are removed from the queue in portions. */
const PORTION = 4_096

/** @param chronicle the settings of its monitors are read when a violation is possible */
export function createHistoryOracle(chronicle: JudgedFacts): HistoryOracle {
  const limits = createHistoryLimits(chronicle)
  /** The rows of the stored messages. Positive: in the history. The amount is the sequence of the last message with it. */
  const rows = new Map<string, number>()
  const bySequence = new Map<number, StoredMessage>()
  /** in order; those before `next` are judged, and their rows are remembered */
  let messages: StoredMessage[] = []
  let next = 0
  let nextJudgementMs = 0
  const record: HistoryRecord = { results: 0, redelivered: 0, repeated: 0, missing: 0, maxMs: 0, violations: [] }
  const listed: Record<string, number> = {}

  function report(violation: HistoryViolation): void {
    listed[violation.what] = (listed[violation.what] ?? 0) + 1
    if (listed[violation.what]! <= MAX_LISTED) record.violations.push(violation)
  }

  const isPresent = (key: string) => rows.get(key)! > 0
  /** The results of a message that have to be in the history, and are not. */
  const findMissing = ({ keys, atMs }: StoredMessage, nowMs: number) =>
    keys.every(isPresent) ? [] : keys.filter(key => !isPresent(key) && limits.isRequired(key, atMs, nowMs))

  function reportMissing(message: StoredMessage, atMs: number, why: string): void {
    for (const key of findMissing(message, atMs)) {
      record.missing++
      const details = `${key} of message ${message.sequence}, stored ${toSeconds(atMs - message.atMs)} before: ${why}`
      report({ what: 'not in the history', monitorId: getMonitorId(key), fromMs: message.atMs, atMs, details })
    }
  }

  function closeNext(): void {
    bySequence.delete(messages[next]!.sequence)
    next++
  }

  /** Judges the messages whose limit has passed. Later messages never have an earlier limit. */
  function judge(nowMs: number): void {
    if (nowMs <= nextJudgementMs) return
    for (; next < messages.length; closeNext()) {
      const message = messages[next]!
      nextJudgementMs = limits.plainLimitMs(message.atMs)
      if (nowMs <= nextJudgementMs) return
      if (message.keys.every(isPresent)) continue
      nextJudgementMs = limits.limitMs(message.atMs)
      if (nowMs <= nextJudgementMs) return
      reportMissing(message, nowMs, `later than ${toSeconds(nextJudgementMs - message.atMs)}`)
    }
  }

  function forgetRows(beforeMs: number): void {
    let first = 0
    for (; first < next && messages[first]!.atMs < beforeMs; first++) {
      const { keys, sequence } = messages[first]!
      for (const key of keys) if (Math.abs(rows.get(key) ?? 0) === sequence) rows.delete(key)
    }
    messages = messages.slice(first)
    next -= first
  }

  return {
    stored(message) {
      const { keys, sequence, atMs } = message
      judge(atMs)
      // the same result may be in another message
      for (const key of keys) rows.set(key, (rows.get(key) ?? 0) > 0 ? sequence : -sequence)
      bySequence.set(sequence, message)
      messages.push(message)
      if (next > PORTION && messages[PORTION]!.atMs < atMs - REMEMBERED_MS) forgetRows(atMs - REMEMBERED_MS)
    },
    forgotten(firstSequence, atMs) {
      judge(atMs)
      for (; next < messages.length && messages[next]!.sequence < firstSequence; closeNext())
        reportMissing(messages[next]!, atMs, 'the stream has forgotten it')
    },
    delivered(isAgain) {
      if (isAgain) record.redelivered++
    },
    recorded(keys, atMs) {
      judge(atMs)
      for (const key of keys) {
        const known = rows.get(key)
        if (known === undefined) {
          const details = `no message has ${key}`
          report({ what: 'unknown row', monitorId: getMonitorId(key), fromMs: atMs, atMs, details })
        } else if (known > 0) record.repeated++
        else {
          rows.set(key, -known)
          record.results++
        }
      }
    },
    acknowledged(sequence, atMs) {
      const message = bySequence.get(sequence)
      if (!message) return
      const waitedMs = atMs - message.atMs
      if (waitedMs > record.maxMs && limits.isPlain(message.atMs, atMs)) record.maxMs = waitedMs
      const [missing] = findMissing(message, atMs)
      if (!missing) return
      const details = `message ${sequence} is acknowledged without ${missing}`
      report({ what: 'acknowledged early', monitorId: getMonitorId(missing), fromMs: message.atMs, atMs, details })
    },
    finish(atMs) {
      judge(atMs)
      return record
    },
  }
}

/** A key begins with the monitor in quotes. */
const getMonitorId = (key: string) => key.slice(1, key.indexOf('"', 1))
const toSeconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
