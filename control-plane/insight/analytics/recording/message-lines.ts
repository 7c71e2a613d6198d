import { type Result, ResultBatch, Trigger } from '../../../../shared/checks/result.ts'
import { type CheckedRegions, classifyReport } from '../../../monitoring/monitors/report-regions/checked-regions.ts'
import { DATA_SOURCE_REGION } from '../../../monitoring/monitors/types.ts'
import { encodeOrigin, findRejectReason, toResultLine } from './result-line.ts'

/** What messages hold for the history. */
export type MessageLines = {
  lines: string[]
  /** of each message, how many lines there are up to its last one */
  ends: number[]
  /** results that are set aside, by reason */
  refused: Record<string, number>
  /** by the region whose probes may publish on the subject: results that are not theirs to report, and the newest one */
  foreign: Map<string, { amount: number; probeId: string; monitorId: string }>
  /** false: it depends on what is known of monitors, which may be old */
  isSure: boolean
}

type Message = { subject: string; data: Uint8Array; info: { timestampNanos: number } }
/** Where monitors are checked; undefined: the monitor does not exist, and what is recorded of it cannot be read. */
type Monitors = { of(monitorId: string): CheckedRegions | undefined }

/** @param monitors null: it is not known where monitors are checked, and every region may report about each */
export function toMessageLines(messages: readonly Message[], monitors: Monitors | null): MessageLines {
  const read: MessageLines = { lines: [], ends: [], refused: {}, foreign: new Map(), isSure: true }
  for (const message of messages) {
    try {
      addBatch(read, message, monitors)
    } catch {
      refuse(read, 'unreadable', 1)
    }
    read.ends.push(read.lines.length)
  }
  return read
}

function addBatch(read: MessageLines, { subject, data, info }: Message, monitors: Monitors | null): void {
  const arrivedAtMs = info.timestampNanos / 1_000_000
  const batch = ResultBatch.decode(data)
  const { region, probeId, results } = batch
  // the subject is the region whose probes may publish on it
  const publisher = subject.slice(subject.lastIndexOf('.') + 1)
  if (region !== publisher) {
    for (const { monitorId } of results) refuseForeign(read, publisher, probeId, monitorId)
    return
  }
  const origin = encodeOrigin(batch)
  for (const result of results) {
    // no check of the monitor: what a witness saw is kept with the transition that it confirmed
    if (result.trigger === Trigger.WITNESS) continue
    const reason = findRejectReason(result, arrivedAtMs)
    if (reason !== null) refuse(read, reason, 1)
    else if (isOwn(read, monitors, { region, probeId, arrivedAtMs }, result))
      read.lines.push(toResultLine(result, origin))
  }
}

function isOwn(
  read: MessageLines,
  monitors: Monitors | null,
  { region, probeId, arrivedAtMs }: { region: string; probeId: string; arrivedAtMs: number },
  { monitorId, scheduledAtMs }: Result,
): boolean {
  // no probe may publish on the subject of data sources: the control plane does
  if (monitors === null || region === DATA_SOURCE_REGION) return true
  const checked = monitors.of(monitorId)
  if (!checked) {
    read.isSure = false
    return true
  }
  const standing = classifyReport(checked, region, { scheduledAtMs, arrivedAtMs })
  if (standing === 'own') return true
  read.isSure = false
  if (standing === 'left') refuse(read, 'left_region', 1)
  else refuseForeign(read, region, probeId, monitorId)
  return false
}

function refuse({ refused }: MessageLines, reason: string, count: number): void {
  refused[reason] = (refused[reason] ?? 0) + count
}

function refuseForeign(read: MessageLines, region: string, probeId: string, monitorId: string): void {
  refuse(read, 'foreign', 1)
  read.foreign.set(region, { amount: (read.foreign.get(region)?.amount ?? 0) + 1, probeId, monitorId })
}
