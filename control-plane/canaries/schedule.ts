import { REGIONS, type Region } from '../../shared/check.ts'

/**
 * How a planned failure looks to a check: the status 503 at once; no answer; a connection that is cut at once; the status
 * 503 after some seconds; the status 200 with the wrong content.
 */
export const KINDS = ['status', 'hang', 'refuse', 'slow', 'wrong'] as const
export type Kind = (typeof KINDS)[number]

/**
 * When the canary of a region fails on purpose, and how: by the clock alone, so that every process that is asked says the
 * same. Its failures are of the given kinds in turn.
 */
export type Schedule = { region: Region; everySeconds: number; forSeconds: number; kinds: readonly Kind[] }

/** What a canary answers while it is well. */
export const WELL = 'OK'

/** Of the canaries' checks. */
export const INTERVAL_SECONDS = 30
export const TIMEOUT_MS = 10_000

export const DEFAULT_SCHEDULE = { everySeconds: 1_800, forSeconds: 180, kinds: KINDS }

/** One planned failure. */
export type Outage = {
  kind: Kind
  startedAt: Date
  endedAt: Date
  /** what was not seen or told by then is missed */
  settledAt: Date
}

/** What is minutes late is still measured: a failure of 3 minutes is settled 10 minutes after it began. */
const SETTLED_AFTER_MS = 7 * 60_000

const SHORTEST_SECONDS = 10
const LONGEST_SECONDS = 600
const DAY_SECONDS = 86_400
const GOLDEN = (Math.sqrt(5) - 1) / 2

/** Why this cannot be a schedule, or null. There has to be time to recover. */
export function scheduleProblem({
  everySeconds,
  forSeconds,
}: Pick<Schedule, 'everySeconds' | 'forSeconds'>): string | null {
  const isWithin = (value: number, least: number, most: number) =>
    Number.isInteger(value) && value >= least && value <= most
  if (!isWithin(forSeconds, SHORTEST_SECONDS, LONGEST_SECONDS)) {
    return `a planned failure lasts from ${SHORTEST_SECONDS} to ${LONGEST_SECONDS} seconds`
  }
  if (isWithin(everySeconds, 2 * forSeconds, DAY_SECONDS)) return null
  return `planned failures are from ${2 * forSeconds} (twice as long as each lasts) to ${DAY_SECONDS} seconds apart`
}

/** The kinds that a text names, with commas between them; null when it is not such a list. */
export function parseKinds(text: string): Kind[] | null {
  const names = text.split(',')
  const isKind = (name: string): name is Kind => (KINDS as readonly string[]).includes(name)
  return names.every(isKind) && new Set(names).size === names.length ? names : null
}

/** The failure that goes on, or else the last one that did. */
export function latestOutage(schedule: Schedule, now: Date): Outage {
  const turn = latestTurn(schedule, now)
  const startMs = startMsOf(schedule, turn)
  const endMs = startMs + schedule.forSeconds * 1_000
  const settledMs = Math.min(endMs + SETTLED_AFTER_MS, startMsOf(schedule, turn + 1))
  const { kinds } = schedule
  const kind = kinds[((turn % kinds.length) + kinds.length) % kinds.length]!
  return { kind, startedAt: new Date(startMs), endedAt: new Date(endMs), settledAt: new Date(settledMs) }
}

export const isFailing = (schedule: Schedule, now: Date): boolean => now < latestOutage(schedule, now).endedAt

/** When the next failure begins. */
export const nextStart = (schedule: Schedule, now: Date): Date =>
  new Date(startMsOf(schedule, latestTurn(schedule, now) + 1))

function latestTurn(schedule: Schedule, now: Date): number {
  const turn = Math.floor((now.getTime() - phaseMsOf(schedule)) / (schedule.everySeconds * 1_000))
  return startMsOf(schedule, turn) <= now.getTime() ? turn : turn - 1
}

/** Regions take turns within the period. */
const phaseMsOf = ({ region, everySeconds }: Schedule) =>
  Math.floor((REGIONS.indexOf(region) / REGIONS.length) * everySeconds * 1_000)

/**
 * Checks come at the same second of each interval for ever. So that a failure meets them at every distance in turn, each
 * begins a little later than the period says: steps of the golden ratio fill an interval evenly, whatever its number.
 */
function startMsOf(schedule: Schedule, turn: number): number {
  const { everySeconds, forSeconds } = schedule
  const roomMs = Math.min(INTERVAL_SECONDS, (everySeconds - forSeconds) / 2) * 1_000
  const delayMs = Math.floor(((turn * GOLDEN) % 1) * roomMs)
  return turn * everySeconds * 1_000 + phaseMsOf(schedule) + delayMs
}

/** The failures that began after `after` and are settled, oldest first. */
export function settledOutages(schedule: Schedule, after: Date, now: Date): Outage[] {
  const outages: Outage[] = []
  let outage = latestOutage(schedule, now)
  while (outage.startedAt > after) {
    if (outage.settledAt <= now) outages.unshift(outage)
    outage = latestOutage(schedule, new Date(outage.startedAt.getTime() - 1))
  }
  return outages
}
