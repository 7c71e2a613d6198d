import { REGIONS, type Region } from '../../../shared/checks/check.ts'

/**
 * Kinds of planned failures: status 503 immediately; no response; a connection that is closed immediately; status 503
 * after some seconds; status 200 with wrong content.
 */
export const FAILURE_KINDS = ['status', 'hang', 'refuse', 'slow', 'wrong'] as const
export type FailureKind = (typeof FAILURE_KINDS)[number]

/**
 * When and how the canary of a region fails (docs/design/history.md#schedule). It depends on the clock only, so all
 * processes respond alike. Failures have the given kinds in turn.
 */
export type CanarySchedule = { region: Region; everySeconds: number; forSeconds: number; kinds: readonly FailureKind[] }

/** The response of a healthy target. */
export const HEALTHY_BODY = 'OK'

/** Settings of the canaries' monitors. */
export const CANARY_INTERVAL_SECONDS = 30
export const CANARY_TIMEOUT_MS = 10_000

export const DEFAULT_SCHEDULE = { everySeconds: 1_800, forSeconds: 180, kinds: FAILURE_KINDS }

/** One planned failure. */
export type CanaryOutage = {
  kind: FailureKind
  startedAt: Date
  endedAt: Date
  /** what was not detected or reported by then is missed */
  settledAt: Date
}

/** Delays of minutes are still measured: a failure of 3 minutes is settled 10 minutes after its start. */
const SETTLED_AFTER_MS = 7 * 60_000

const MIN_OUTAGE_SECONDS = 10
const MAX_OUTAGE_SECONDS = 600
const DAY_SECONDS = 86_400
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2

/** Why a schedule is not valid, or null. There must be time to recover. */
export function findScheduleProblem({
  everySeconds,
  forSeconds,
}: Pick<CanarySchedule, 'everySeconds' | 'forSeconds'>): string | null {
  const isWithin = (value: number, least: number, most: number) =>
    Number.isInteger(value) && value >= least && value <= most
  if (!isWithin(forSeconds, MIN_OUTAGE_SECONDS, MAX_OUTAGE_SECONDS)) {
    return `a planned failure must last ${MIN_OUTAGE_SECONDS} to ${MAX_OUTAGE_SECONDS} seconds`
  }
  if (isWithin(everySeconds, 2 * forSeconds, DAY_SECONDS)) return null
  return `planned failures must be ${2 * forSeconds} (twice their length) to ${DAY_SECONDS} seconds apart`
}

/** Parses a list of kinds, separated by commas; null when it is not valid. */
export function parseFailureKinds(text: string): FailureKind[] | null {
  const names = text.split(',')
  const isKind = (name: string): name is FailureKind => (FAILURE_KINDS as readonly string[]).includes(name)
  return names.every(isKind) && new Set(names).size === names.length ? names : null
}

/** The current failure, or else the last one. */
export function getLatestOutage(schedule: CanarySchedule, now: Date): CanaryOutage {
  const turn = computeLatestTurn(schedule, now)
  const startMs = computeStartMs(schedule, turn)
  const endMs = startMs + schedule.forSeconds * 1_000
  const settledMs = Math.min(endMs + SETTLED_AFTER_MS, computeStartMs(schedule, turn + 1))
  const { kinds } = schedule
  const kind = kinds[((turn % kinds.length) + kinds.length) % kinds.length]!
  return { kind, startedAt: new Date(startMs), endedAt: new Date(endMs), settledAt: new Date(settledMs) }
}

export const isFailing = (schedule: CanarySchedule, now: Date): boolean => now < getLatestOutage(schedule, now).endedAt

/** When the next failure begins. */
export const computeNextStart = (schedule: CanarySchedule, now: Date): Date =>
  new Date(computeStartMs(schedule, computeLatestTurn(schedule, now) + 1))

function computeLatestTurn(schedule: CanarySchedule, now: Date): number {
  const turn = Math.floor((now.getTime() - computePhaseMs(schedule)) / (schedule.everySeconds * 1_000))
  return computeStartMs(schedule, turn) <= now.getTime() ? turn : turn - 1
}

/** Regions take turns within the period. */
const computePhaseMs = ({ region, everySeconds }: CanarySchedule) =>
  Math.floor((REGIONS.indexOf(region) / REGIONS.length) * everySeconds * 1_000)

/**
 * Checks start at the same second of each interval. Each failure begins with a different delay, so that failures and
 * checks meet at every distance: steps of the golden ratio fill an interval evenly, for any number of failures.
 */
function computeStartMs(schedule: CanarySchedule, turn: number): number {
  const { everySeconds, forSeconds } = schedule
  const roomMs = Math.min(CANARY_INTERVAL_SECONDS, (everySeconds - forSeconds) / 2) * 1_000
  const delayMs = Math.floor(((turn * GOLDEN_RATIO) % 1) * roomMs)
  return turn * everySeconds * 1_000 + computePhaseMs(schedule) + delayMs
}

/** The failures that began after `after` and are settled, oldest first. */
export function listSettledOutages(schedule: CanarySchedule, after: Date, now: Date): CanaryOutage[] {
  const outages: CanaryOutage[] = []
  let outage = getLatestOutage(schedule, now)
  while (outage.startedAt > after) {
    if (outage.settledAt <= now) outages.unshift(outage)
    outage = getLatestOutage(schedule, new Date(outage.startedAt.getTime() - 1))
  }
  return outages
}
