import type { KindFigures, Miss, Percentiles } from '../../canaries/figures-store.ts'
import { type Limits, limitsOf } from '../../canaries/guarantee.ts'
import { DEFAULT_SCHEDULE, INTERVAL_SECONDS, type Kind, type Schedule, TIMEOUT_MS } from '../../canaries/schedule.ts'
import { type Pace, paceOf } from '../../monitors/guarantee.ts'
import { toMinute } from '../calendar.ts'

/** For so long canaries' measurements are kept. */
export const TRUST_DAYS = 30

/** What the page of the installation shows: nothing of tenants, addresses, regions or probes. */
export type Trust = {
  /** the minute in which it was read */
  at: string
  /** of the monitors that are measured */
  pace: Pace
  /** in the order in which they are read */
  rows: TrustRow[]
  /** planned outages that were compared with the guarantee, and those over it */
  compared: number
  misses: number
  lastMiss: Miss | null
}

/** `measured` null: no outage of this kind was measured. */
export type TrustRow = { kind: Kind; limits: Limits; measured: Measured | null }
export type Measured = { outages: number; down: Percentiles; message: Percentiles }

export type TrustFacts = { canaries: readonly Watched[]; figures: readonly KindFigures[]; lastMiss: Miss | null }
type Watched = Omit<Schedule, 'region'> & { intervalSeconds: number; timeoutMs: number; retryCount: number }

/** What canaries have when they are made. */
const NEW_CANARY: Watched = {
  ...DEFAULT_SCHEDULE,
  intervalSeconds: INTERVAL_SECONDS,
  timeoutMs: TIMEOUT_MS,
  retryCount: 2,
}
const ORDER: readonly Kind[] = ['refuse', 'status', 'wrong', 'slow', 'hang']

/** The guarantee of the canaries as they are now, or as they would be made, next to what was measured. */
export function trustOf({ canaries, figures, lastMiss }: TrustFacts, now: Date): Trust {
  const canary = slowest(canaries) ?? NEW_CANARY
  const kinds = ORDER.filter(kind => canary.kinds.includes(kind) || figures.some(one => one.kind === kind))
  const sum = (key: 'compared' | 'misses') => figures.reduce((total, one) => total + one[key], 0)
  return {
    at: toMinute(now.toISOString()),
    pace: paceOf(canary),
    rows: kinds.map(kind => ({
      kind,
      limits: limitsOf(kind, canary, paceOf(canary)),
      measured: figures.find(one => one.kind === kind) ?? null,
    })),
    compared: sum('compared'),
    misses: sum('misses'),
    lastMiss,
  }
}

/** Canaries are created with the same settings. If one was changed, the page shows the guarantee that all of them keep. */
function slowest(canaries: readonly Watched[]): Watched | undefined {
  const limit = (canary: Watched) => limitsOf('slow', canary, paceOf(canary)).downWithin
  return canaries.toSorted((a, b) => limit(b) - limit(a))[0]
}

/** Seconds as they are answered: up to the next tenth, so that no figure looks better than it is. */
export const tenths = (seconds: number): number => Math.ceil(seconds * 10 - 1e-6) / 10
