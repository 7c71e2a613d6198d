import { REGIONS, type Region } from '../../shared/check.ts'

/** When the canary of a region fails on purpose: by the clock alone, so that every process that is asked says the same. */
export type Schedule = { region: Region; everySeconds: number; forSeconds: number }

export const DEFAULT_SCHEDULE = { everySeconds: 1_800, forSeconds: 180 }

/** One planned failure. */
export type Outage = {
  startedAt: Date
  endedAt: Date
  /** what was not seen or told by then is missed */
  settledAt: Date
}

/** With the longest planned failure, 10 minutes, a detection of up to 10 minutes and more still counts as late. */
const SETTLED_AFTER_MS = 7 * 60_000

const SHORTEST_SECONDS = 10
const LONGEST_SECONDS = 600
const DAY_SECONDS = 86_400

/** Why this cannot be a schedule, or null. There has to be time to recover. */
export function scheduleProblem({ everySeconds, forSeconds }: Omit<Schedule, 'region'>): string | null {
  const isWithin = (value: number, least: number, most: number) =>
    Number.isInteger(value) && value >= least && value <= most
  if (!isWithin(forSeconds, SHORTEST_SECONDS, LONGEST_SECONDS)) {
    return `a planned failure lasts from ${SHORTEST_SECONDS} to ${LONGEST_SECONDS} seconds`
  }
  if (isWithin(everySeconds, 2 * forSeconds, DAY_SECONDS)) return null
  return `planned failures are from ${2 * forSeconds} (twice as long as each lasts) to ${DAY_SECONDS} seconds apart`
}

/** The failure that goes on, or else the last one that did. Regions take turns within the period. */
export function latestOutage(schedule: Schedule, now: Date): Outage {
  const everyMs = schedule.everySeconds * 1_000
  const phaseMs = (REGIONS.indexOf(schedule.region) / REGIONS.length) * everyMs
  const startMs = Math.floor((now.getTime() - phaseMs) / everyMs) * everyMs + phaseMs
  const endMs = startMs + schedule.forSeconds * 1_000
  const settledMs = Math.min(endMs + SETTLED_AFTER_MS, startMs + everyMs)
  return { startedAt: new Date(startMs), endedAt: new Date(endMs), settledAt: new Date(settledMs) }
}

export const isFailing = (schedule: Schedule, now: Date): boolean => now < latestOutage(schedule, now).endedAt

/** When the next failure begins. */
export function nextStart(schedule: Schedule, now: Date): Date {
  return new Date(latestOutage(schedule, now).startedAt.getTime() + schedule.everySeconds * 1_000)
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
