import { type Result, type ResultBatch, Trigger } from '../../../../shared/checks/result.ts'
import { decodeResultBatch } from '../../../../shared/checks/result-batch.ts'
import { LATE_STREAM, WITNESS_REGION } from '../../../../shared/nats/subjects.ts'
import type { YieldPoint } from '../../../foundation/platform/time/clock.ts'
import { type CheckedRegions, classifyReport } from '../../../monitoring/monitors/report-regions/checked-regions.ts'
import { DATA_SOURCE_REGION } from '../../../monitoring/monitors/types.ts'
import { createLineBuffer, type LineBuffer } from './line-buffer.ts'
import { encodeOrigin, findRejectReason, type MessageArrival, toResultLine, toWitnessLine } from './result-line.ts'

/** The rows of messages for ClickHouse. */
export type MessageLines = {
  lines: LineBuffer
  /** for each message, the number of lines up to its last one */
  ends: number[]
  /** rows of checks by witnesses, which have a table of their own */
  witnesses: LineBuffer
  /** the same as `ends`, for `witnesses` */
  witnessEnds: number[]
  /** the number of results that are set aside, by reason */
  refused: Record<string, number>
  /** results of foreign monitors, by the region of the subject, with the newest one */
  foreign: Map<string, { amount: number; probeId: string; monitorId: string }>
  /** false: the outcome depends on cached regions of monitors, which may be outdated */
  isSure: boolean
}

type Message = {
  subject: string
  data: Uint8Array
  info: { timestampNanos: number; stream: string; streamSequence: number }
}
/** The regions of monitors; undefined: the monitor does not exist, so its results cannot be read. */
type Monitors = { of(monitorId: string): CheckedRegions | undefined }

/**
 * Decodes messages. A fetch can have 250,000 results, which would hold up alerts of the same process.
 *
 * @param monitors null: the regions of monitors are not known, so results of every region are accepted
 * @param yieldPoint null: never yields to other work
 */
export async function toMessageLines(
  messages: readonly Message[],
  monitors: Monitors | null,
  yieldPoint: YieldPoint | null,
): Promise<MessageLines> {
  const rows = { lines: createLineBuffer(), ends: [], witnesses: createLineBuffer(), witnessEnds: [] }
  const read: MessageLines = { ...rows, refused: {}, foreign: new Map(), isSure: true }
  for (const message of messages) {
    if (yieldPoint) await yieldPoint()
    try {
      addBatch(read, message, monitors)
    } catch {
      reject(read, 'unreadable', 1)
    }
    read.ends.push(read.lines.count())
    read.witnessEnds.push(read.witnesses.count())
  }
  return read
}

function addBatch(read: MessageLines, { subject, data, info }: Message, monitors: Monitors | null): void {
  const arrivedAtMs = Math.floor(info.timestampNanos / 1_000_000)
  const arrival = {
    takenAtMs: arrivedAtMs,
    sequence: info.streamSequence,
    isLate: info.stream === LATE_STREAM,
  }
  const batch = decodeResultBatch(data)
  const { region, probeId, results } = batch
  // the last token of the subject is the region whose probes may publish on it
  const subjectRegion = subject.slice(subject.lastIndexOf('.') + 1)
  if (subjectRegion === WITNESS_REGION && batch.results.length === 0) {
    addWitness(read, batch, arrival)
    return
  }
  if (region !== subjectRegion) {
    for (const { monitorId } of results) rejectForeign(read, subjectRegion, probeId, monitorId)
    return
  }
  const origin = encodeOrigin(batch)
  for (const result of results) {
    // not a check of the monitor
    if (result.trigger === Trigger.WITNESS) continue
    const reason = findRejectReason(result, arrivedAtMs)
    if (reason !== null) reject(read, reason, 1)
    else if (isAccepted(read, monitors, { region, probeId, arrivedAtMs }, result))
      read.lines.add(toResultLine(result, origin, arrival))
  }
}

/** Only the fleet publishes checks of witnesses, one a message. They are not checks of the monitor. */
function addWitness(read: MessageLines, batch: ResultBatch, arrival: MessageArrival): void {
  const { witnessed } = batch
  const isWitness = witnessed?.trigger === Trigger.WITNESS
  const reason = isWitness ? findRejectReason(witnessed, arrival.takenAtMs) : 'unreadable'
  if (reason !== null) reject(read, reason, 1)
  else read.witnesses.add(toWitnessLine(witnessed!, encodeOrigin(batch), arrival))
}

function isAccepted(
  read: MessageLines,
  monitors: Monitors | null,
  { region, probeId, arrivedAtMs }: { region: string; probeId: string; arrivedAtMs: number },
  { monitorId, scheduledAtMs }: Result,
): boolean {
  // only the control plane may publish on the subject of data sources
  if (monitors === null || region === DATA_SOURCE_REGION) return true
  const checked = monitors.of(monitorId)
  if (!checked) {
    read.isSure = false
    return true
  }
  const eligibility = classifyReport(checked, region, { scheduledAtMs, arrivedAtMs })
  if (eligibility === 'own') return true
  read.isSure = false
  if (eligibility === 'left') reject(read, 'left_region', 1)
  else rejectForeign(read, region, probeId, monitorId)
  return false
}

function reject({ refused }: MessageLines, reason: string, count: number): void {
  refused[reason] = (refused[reason] ?? 0) + count
}

function rejectForeign(read: MessageLines, region: string, probeId: string, monitorId: string): void {
  reject(read, 'foreign', 1)
  read.foreign.set(region, { amount: (read.foreign.get(region)?.amount ?? 0) + 1, probeId, monitorId })
}
