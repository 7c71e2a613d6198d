import type { RecordedFault, SettingsPeriod, TargetOutage } from './chronicle.ts'
import { DECISION_MS } from './limits.ts'

/** How an outage was reported. `delayMs` null: it was not reported. */
export type Detection = {
  outage: TargetOutage
  settings: SettingsPeriod
  isSlow: boolean
  /** the limit for its report, from its beginning */
  limitMs: number
  /** no fault was under way and the monitor was not changed */
  isPlain: boolean
  faults: RecordedFault[]
  delayMs: number | null
  lastedMs: number
}

export type Spread = {
  group: string
  count: number
  p50: number
  p95: number
  p99: number
  max: number
  ofLimit: number
}

/** `tooShort`: not reported, and shorter than what is guaranteed. */
type OutageCounts = {
  all: number
  reported: number
  notReported: number
  tooShort: number
  missed: number
  late: number
}

export type Figures = {
  outages: OutageCounts & { plain: number }
  /** the outages of at least 1.5 intervals */
  longOutages: OutageCounts
  /** number of findings by kind and cause */
  causes: { what: string; cause: string; regions: string; count: number }[]
  /** seconds from the beginning of an outage to `down`; `ofLimit`: the largest share of a limit */
  detection: { plain: Spread[]; all: Spread[] }
}

export function computeFigures(
  detections: readonly Detection[],
  findings: readonly { what: string; cause: string; regions: number }[],
): Figures {
  const plain = detections.filter(({ isPlain }) => isPlain)
  return {
    outages: { ...countOutages(detections), plain: plain.length },
    longOutages: countOutages(detections.filter(isLong)),
    causes: countCauses(findings),
    detection: { plain: computeSpreads(plain), all: computeSpreads(detections) },
  }
}

const LONG_INTERVALS = 1.5
const isLong = ({ outage, settings }: Detection) =>
  outage.toMs - outage.fromMs >= LONG_INTERVALS * settings.intervalS * 1000

/** A shorter outage than this may stay unnoticed. */
export const isGuaranteed = ({ lastedMs, limitMs }: Detection): boolean => lastedMs >= limitMs - DECISION_MS

function countOutages(detections: readonly Detection[]): OutageCounts {
  const silent = detections.filter(({ delayMs }) => delayMs === null)
  const missed = silent.filter(isGuaranteed).length
  return {
    all: detections.length,
    reported: detections.length - silent.length,
    notReported: silent.length,
    tooShort: silent.length - missed,
    missed,
    late: detections.filter(({ delayMs, limitMs }) => delayMs !== null && delayMs > limitMs).length,
  }
}

function countCauses(findings: readonly { what: string; cause: string; regions: number }[]): Figures['causes'] {
  const counts = new Map<string, Figures['causes'][number]>()
  for (const { what, cause, regions } of findings) {
    const group = regions === 1 ? '1' : '2 or more'
    const key = `${what} ${cause} ${group}`
    const known = counts.get(key) ?? { what, cause, regions: group, count: 0 }
    counts.set(key, { ...known, count: known.count + 1 })
  }
  return [...counts.values()].sort((a, b) => a.what.localeCompare(b.what) || b.count - a.count)
}

function computeSpreads(detections: readonly Detection[]): Spread[] {
  const groups: ((one: Detection) => string)[] = [
    ({ outage }) => outage.kind,
    ({ outage, settings }) => `${outage.kind}, ${settings.regions.length} regions`,
    ({ outage, settings: { intervalS, timeoutMs, retryCount } }) =>
      `${outage.kind}, every ${intervalS} s, timeout ${timeoutMs / 1000} s, ${retryCount} re-checks`,
  ]
  return groups.flatMap(formatName => {
    const named = new Map<string, Detection[]>()
    for (const one of detections) {
      if (one.delayMs === null) continue
      named.set(formatName(one), [...(named.get(formatName(one)) ?? []), one])
    }
    return [...named].sort(([a], [b]) => (a < b ? -1 : 1)).map(([group, ones]) => computeSpread(group, ones))
  })
}

function computeSpread(group: string, ones: readonly Detection[]): Spread {
  const delays = ones.map(({ delayMs }) => delayMs! / 1000).sort((a, b) => a - b)
  const at = (share: number) => delays[Math.min(delays.length - 1, Math.ceil(share * delays.length) - 1)]!
  const ofLimit = Math.max(...ones.map(({ delayMs, limitMs }) => delayMs! / limitMs))
  return { group, count: ones.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: delays.at(-1)!, ofLimit }
}
