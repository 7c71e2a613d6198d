import type {
  Chronicle,
  CommittedTransition,
  RecordedFault,
  SentNotification,
  SettingsPeriod,
  TargetOutage,
} from '../simulate/oracle/chronicle.ts'
import { evaluateChronicle } from '../simulate/oracle/evaluate.ts'

export const MIN = 60_000
export const HOUR = 60 * MIN
export const ID = 'a monitor'
const ALL_REGIONS = ['us-east', 'us-west', 'eu-west', 'ap-northeast']

/** Settings of a monitor every 30 s in three regions. */
export const settingsFrom = (fromMs: number, more: Partial<SettingsPeriod> = {}): SettingsPeriod => ({
  ...{ fromMs, regions: ['us-east', 'eu-west', 'ap-northeast'], intervalS: 30, timeoutMs: 10_000, retryCount: 2 },
  ...{ witness: true, isPaused: false, isOtherTarget: false, ...more },
})

/** One hour of a monitor every 30 s with a timeout of 10 s and two re-checks. `refused` must be reported within 37 s. */
export function buildHour(given: Partial<Chronicle>, regions = settingsFrom(0).regions): Chronicle {
  return {
    seed: 0,
    beginMs: 0,
    endMs: HOUR,
    checks: 100,
    liveSets: 6,
    kinds: {},
    history: { results: 0, repeated: 0, redelivered: 0, missing: 0, maxMs: 0, violations: [] },
    regions: ALL_REGIONS,
    monitors: [{ id: ID, settings: [settingsFrom(0, { regions, isOtherTarget: true })], isSlow: false }],
    outages: [],
    faults: [],
    transitions: [],
    windows: [],
    notifications: sentAtOnce(given.transitions ?? []),
    ...given,
  }
}

/** Without maintenance, each change is sent with its commit. */
const sentAtOnce = (transitions: readonly CommittedTransition[]): SentNotification[] =>
  transitions.flatMap(({ monitorId, atMs, from, to }) =>
    to === null || from === to || (from === null && to === 'up') ? [] : { monitorId, atMs, status: to },
  )

export const outage = (fromMs: number, lastedMs: number, kind = 'refused'): TargetOutage => ({
  ...{ monitorId: ID, kind, fromMs },
  toMs: fromMs + lastedMs,
  isShared: false,
})
export const moved = (atMs: number, from: string | null, to: string | null): CommittedTransition => ({
  ...{ monitorId: ID, atMs, from, to },
  quorum: 'full',
  named: to === 'degraded' ? ['us-east'] : [],
})
export const fault = (kind: string, fromMs: number, lastedMs: number, region: string | null): RecordedFault => ({
  ...{ kind, fromMs, region, place: region ?? '', size: 0.5 },
  toMs: fromMs + lastedMs,
})
export const FIRST_UP = moved(1_000, null, 'up')
export const TEN = 10 * MIN

export type Row = [title: string, given: Partial<Chronicle>, found: string[], regions?: string[]]

type Tests = { test: (name: string, body: (t: Same) => Promise<void>) => unknown }
type Same = { same: (a: unknown, b: unknown) => unknown; equal: (a: unknown, b: unknown) => unknown }

/** One test a row: what the oracle finds. */
export function testRows(t: Tests, rows: readonly Row[]): void {
  for (const [title, given, found, regions] of rows) {
    t.test(`the oracle finds ${found.join(', ') || 'nothing wrong'}: ${title}`, async t => {
      const { findings, failures } = evaluateChronicle(buildHour(given, regions))
      t.equal(failures.length, new Set(found).size)
      t.same(
        findings.map(({ what }) => what),
        found,
      )
    })
  }
}
