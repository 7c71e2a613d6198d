import { groupBy } from '../../../../../shared/group-by.ts'
import type { RegionAbsence, RegionAbsences } from '../../../../verdict/core/types.ts'
import { type EpochSpan, findRefusal } from '../../../../verdict/reader/live-sets/live-sets.ts'
import type { RegionChange } from './types.ts'

type LiveSetHistory = {
  /** The regions without a probe at a time. Times must ascend. The same map until something changes. */
  absencesAt(nowMs: number): RegionAbsences
  /** Whether the verdict counted results of this epoch by this probe, at the time of the last `absencesAt`. */
  isAccepted(region: string, probeId: string, epoch: number): boolean
}

type RegionHistory = { changes: RegionChange[]; next: number; spans: Map<string, EpochSpan[]>; epoch: number }

/** The live sets of regions over time. `changes`: of each region in ascending order. What is before the first is unknown. */
export function createLiveSetHistory(changes: readonly RegionChange[]): LiveSetHistory {
  const regions = new Map<string, RegionHistory>()
  for (const [region, own] of groupBy([...changes], ({ region }) => region))
    regions.set(region, { changes: own, next: 0, spans: buildSpans(own), epoch: own.at(-1)!.epoch })
  let absences: RegionAbsences = new Map()

  function advance(region: string, history: RegionHistory, nowMs: number): void {
    const before = history.next
    while (history.next < history.changes.length && history.changes[history.next]!.atMs <= nowMs) history.next++
    if (history.next === before) return
    const absence = toAbsence(history.changes[history.next - 1]!)
    const known = absences.get(region)
    if (known?.fromMs === absence?.fromMs && known?.untilMs === absence?.untilMs) return
    const next = new Map(absences)
    if (absence) next.set(region, absence)
    else next.delete(region)
    absences = next
  }

  return {
    absencesAt(nowMs) {
      for (const [region, history] of regions) advance(region, history, nowMs)
      return absences
    },
    isAccepted(region, probeId, epoch) {
      const history = regions.get(region)
      if (!history || epoch < history.changes[0]!.epoch) return true
      const { spans, next, changes } = history
      if (findRefusal(history, spans.get(probeId), epoch) === null) return true
      // a probe that is live may send results of an older epoch
      const now = changes[next - 1]
      return now !== undefined && epoch <= now.epoch && now.probeIds.includes(probeId)
    },
  }
}

const toAbsence = ({ absentFromMs, absentUntilMs }: RegionChange): RegionAbsence | null =>
  absentFromMs === null ? null : { fromMs: absentFromMs, untilMs: absentUntilMs ?? Number.POSITIVE_INFINITY }

/** The epochs in which each probe was live. The current epoch ends with the next one. */
function buildSpans(changes: readonly RegionChange[]): Map<string, EpochSpan[]> {
  const spans = new Map<string, EpochSpan[]>()
  let until = changes.at(-1)!.epoch + 1
  for (const [i, { epoch, probeIds }] of [...changes.entries()].reverse()) {
    const later = changes[i + 1]
    if (later && later.epoch !== epoch) until = later.epoch
    for (const probeId of probeIds) {
      const own = spans.get(probeId) ?? []
      spans.set(probeId, own)
      own.push({ from: epoch, until })
    }
  }
  return spans
}
