import { type CanaryLimits, computeCanaryLimits } from '../../../insight/canaries/measurement/guarantee.ts'
import type {
  MissedGuarantee,
  OutageStatistics,
  Percentiles,
} from '../../../insight/canaries/measurement/statistics-store.ts'
import {
  CANARY_INTERVAL_SECONDS,
  CANARY_TIMEOUT_MS,
  type CanarySchedule,
  DEFAULT_SCHEDULE,
  type FailureKind,
} from '../../../insight/canaries/schedule.ts'
import { type CheckPace, getCheckPace } from '../../../monitoring/monitors/settings/guarantee.ts'
import { truncateToMinute } from '../../templates/dates.ts'

/** How long measurements of canaries are kept. */
export const TRUST_DAYS = 30

/** The content of the trust page. It contains no tenant, address, region or probe. */
export type TrustReport = {
  /** the minute in which it was read */
  at: string
  /** settings of the measured monitors */
  pace: CheckPace
  /** in display order */
  rows: TrustRow[]
  /** planned outages that were compared with the guarantee, and those that missed it */
  compared: number
  misses: number
  lastMiss: MissedGuarantee | null
}

/** `measured` null: no outage of this kind was measured. */
export type TrustRow = { kind: FailureKind; limits: CanaryLimits; measured: TrustMeasurement | null }
type TrustMeasurement = { outages: number; down: Percentiles; message: Percentiles }

export type TrustInput = {
  canaries: readonly MeasuredCanary[]
  figures: readonly OutageStatistics[]
  lastMiss: MissedGuarantee | null
}
type MeasuredCanary = Omit<CanarySchedule, 'region'> & {
  intervalSeconds: number
  timeoutMs: number
  retryCount: number
}

/** The settings of a new canary. */
const NEW_CANARY: MeasuredCanary = {
  ...DEFAULT_SCHEDULE,
  intervalSeconds: CANARY_INTERVAL_SECONDS,
  timeoutMs: CANARY_TIMEOUT_MS,
  retryCount: 2,
}
const ORDER: readonly FailureKind[] = ['refuse', 'status', 'wrong', 'slow', 'hang']

/** Combines the guarantee of the current canaries, or of new ones, with the measurements. */
export function buildTrustReport({ canaries, figures, lastMiss }: TrustInput, now: Date): TrustReport {
  const canary = findSlowest(canaries) ?? NEW_CANARY
  const kinds = ORDER.filter(kind => canary.kinds.includes(kind) || figures.some(one => one.kind === kind))
  const sum = (key: 'compared' | 'misses') => figures.reduce((total, one) => total + one[key], 0)
  return {
    at: truncateToMinute(now.toISOString()),
    pace: getCheckPace(canary),
    rows: kinds.map(kind => ({
      kind,
      limits: computeCanaryLimits(kind, canary, getCheckPace(canary)),
      measured: figures.find(one => one.kind === kind) ?? null,
    })),
    compared: sum('compared'),
    misses: sum('misses'),
    lastMiss,
  }
}

/** Canaries are created with the same settings. If one was changed, the page shows the guarantee of the slowest. */
function findSlowest(canaries: readonly MeasuredCanary[]): MeasuredCanary | undefined {
  const limit = (canary: MeasuredCanary) => computeCanaryLimits('slow', canary, getCheckPace(canary)).downWithin
  return canaries.toSorted((a, b) => limit(b) - limit(a))[0]
}

/** Rounds seconds up to the next tenth, so that no figure looks better than it is. */
export const roundUpToTenth = (seconds: number): number => Math.ceil(seconds * 10 - 1e-6) / 10
