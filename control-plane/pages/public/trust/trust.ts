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

/** For so long canaries' measurements are kept. */
export const TRUST_DAYS = 30

/** What the page of the installation shows: nothing of tenants, addresses, regions or probes. */
export type TrustReport = {
  /** the minute in which it was read */
  at: string
  /** of the monitors that are measured */
  pace: CheckPace
  /** in the order in which they are read */
  rows: TrustRow[]
  /** planned outages that were compared with the guarantee, and those over it */
  compared: number
  misses: number
  lastMiss: MissedGuarantee | null
}

/** `measured` null: no outage of this kind was measured. */
export type TrustRow = { kind: FailureKind; limits: CanaryLimits; measured: TrustMeasurement | null }
export type TrustMeasurement = { outages: number; down: Percentiles; message: Percentiles }

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

/** What canaries have when they are made. */
const NEW_CANARY: MeasuredCanary = {
  ...DEFAULT_SCHEDULE,
  intervalSeconds: CANARY_INTERVAL_SECONDS,
  timeoutMs: CANARY_TIMEOUT_MS,
  retryCount: 2,
}
const ORDER: readonly FailureKind[] = ['refuse', 'status', 'wrong', 'slow', 'hang']

/** The guarantee of the canaries as they are now, or as they would be made, next to what was measured. */
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

/** Canaries are created with the same settings. If one was changed, the page shows the guarantee that all of them keep. */
function findSlowest(canaries: readonly MeasuredCanary[]): MeasuredCanary | undefined {
  const limit = (canary: MeasuredCanary) => computeCanaryLimits('slow', canary, getCheckPace(canary)).downWithin
  return canaries.toSorted((a, b) => limit(b) - limit(a))[0]
}

/** Seconds as they are answered: up to the next tenth, so that no figure looks better than it is. */
export const roundUpToTenth = (seconds: number): number => Math.ceil(seconds * 10 - 1e-6) / 10
