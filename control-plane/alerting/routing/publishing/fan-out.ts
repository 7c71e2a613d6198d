/** An event with this many rules, subscriptions or overrides, or more, is left to the fan-out. */
export const MAX_INLINE_LISTENERS = 50

/** How many deliveries of one project are queued in the transaction of its events. */
const MAX_INLINE_PER_PROJECT = 100

/** The same limit for all projects of a transaction. */
const MAX_INLINE_DELIVERIES = 1_000

/** How many deliveries an event has. `isWhole`: all recipients are counted. */
type EventDeliveryCount = { projectId: string; deliveries: number; isWhole: boolean }

/** The projects with few enough deliveries to queue them in the transaction: all events of a project, or none. */
export function selectInlineProjects(counts: EventDeliveryCount[]): Set<string> {
  const sums = new Map<string, number>()
  for (const { projectId, deliveries, isWhole } of counts) {
    sums.set(projectId, (sums.get(projectId) ?? 0) + (isWhole ? deliveries : Number.POSITIVE_INFINITY))
  }
  const selected = new Set<string>()
  let room = MAX_INLINE_DELIVERIES
  for (const [projectId, sum] of sums) {
    if (sum > Math.min(MAX_INLINE_PER_PROJECT, room)) continue
    selected.add(projectId)
    room -= sum
  }
  return selected
}

/** How many deliveries one turn of the fan-out makes, approximately. */
export const MAX_DELIVERIES_PER_TURN = 500

/**
 * How many events, from the first one, fit completely into one turn; 0 when the first one does not fit. `deliveries`:
 * the number for each event; null when not all recipients are counted.
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
 * The project that has the next turn: of the waiting projects that are not deferred the one with the fewest turns, so that
 * a new project comes first. Null when no project is left.
 */
export function pickNextProject(waiting: string[], turns: ReadonlyMap<string, number>, deferred: ReadonlySet<string>) {
  const countTurns = (id: string) => turns.get(id) ?? 0
  const [first, ...others] = waiting.filter(id => !deferred.has(id))
  if (first === undefined) return null
  return others.reduce((best, id) => (countTurns(id) < countTurns(best) ? id : best), first)
}
