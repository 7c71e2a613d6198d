/** An event with more listeners of one kind is left to the fan-out. */
export const MAX_INLINE_LISTENERS = 50

/** So many deliveries of a project are queued in the transaction of its events at most, */
const MAX_INLINE_PER_PROJECT = 100

/** and so many of all projects. */
const MAX_INLINE_DELIVERIES = 1_000

/** What an event comes to in the transaction that makes it. `isWhole`: everybody who hears of it is counted. */
export type EventDeliveryCount = { projectId: string; deliveries: number; isWhole: boolean }

/** The projects whose deliveries are so few that they are queued at once: all of a project's events, or none. */
export function selectInlineProjects(counts: EventDeliveryCount[]): Set<string> {
  const sums = new Map<string, number>()
  for (const { projectId, deliveries, isWhole } of counts) {
    sums.set(projectId, (sums.get(projectId) ?? 0) + (isWhole ? deliveries : Number.POSITIVE_INFINITY))
  }
  const few = new Set<string>()
  let room = MAX_INLINE_DELIVERIES
  for (const [projectId, sum] of sums) {
    if (sum > Math.min(MAX_INLINE_PER_PROJECT, room)) continue
    few.add(projectId)
    room -= sum
  }
  return few
}

/** How many deliveries one turn of the fan-out makes, about. */
export const MAX_DELIVERIES_PER_TURN = 500

/**
 * How many events, from the first one, fit whole into one turn; 0: the first one alone is too much for one.
 * `deliveries`: of each event; null: not known whole.
 */
export function countEventsInTurn(deliveries: (number | null)[]): number {
  let sum = 0
  const end = deliveries.findIndex(count => {
    sum += count ?? Number.POSITIVE_INFINITY
    return sum > MAX_DELIVERIES_PER_TURN
  })
  return end === -1 ? deliveries.length : end
}

/**
 * Whose turn it is: of the projects that wait and that are not put off, the one with the fewest turns so far, so that
 * a project that has just come goes first. Null: no project is left.
 */
export function pickNextProject(waiting: string[], turns: ReadonlyMap<string, number>, putOff: ReadonlySet<string>) {
  const turnsOf = (id: string) => turns.get(id) ?? 0
  const [first, ...others] = waiting.filter(id => !putOff.has(id))
  if (first === undefined) return null
  return others.reduce((best, id) => (turnsOf(id) < turnsOf(best) ? id : best), first)
}
