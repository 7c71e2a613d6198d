import { groupBy } from '../../../../shared/group-by.ts'
import { type Db, isLockTimeout, setLockTimeout, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { QueuedDelivery } from '../queue/lane-store.ts'
import type { PreparedDelivery } from '../rendering/prepare.ts'
import { DEFAULT_BURST, deferAll, type PacePlan, planPace } from './pace.ts'
import { lockPaces, type PacedDestination, postponeDeliveries, storePaces } from './pace-store.ts'

type Ready = PreparedDelivery & { head: QueuedDelivery }
type Group = PacedDestination & { group: Ready[] }

/** `db`: requests are counted there, in separate transactions */
type Tools = { db: Db; webhookBurst?: number }

/** For one pace; counting takes milliseconds. */
const PACE_LOCK_TIMEOUT_MS = 100
/** For a single pace, after the attempt to lock all of them has failed. */
const SINGLE_PACE_LOCK_TIMEOUT_MS = 10

/**
 * Limits the requests of one event to one host, over all processes: the first ones are sent immediately, the others one
 * a second (docs/design/deliveries.md#pace). Returns the deliveries to send now and the due times of the others. Only
 * events with many deliveries are limited.
 */
export async function paceRequests(tx: Tx, ready: Ready[], { db, webhookBurst = DEFAULT_BURST }: Tools, now: Date) {
  const byDestination = groupBy(ready.filter(isPaced), one => `${one.head.eventId} ${one.host}`)
  if (byDestination.size === 0) return { admitted: ready, dueAt: [] }
  const groups = [...byDestination.values()].map(group => ({
    ...{ eventId: group[0]!.head.eventId, host: group[0]!.host! },
    group,
  }))
  const plans = await planGroups(db, groups, webhookBurst, now)
  const waits = groups.flatMap(({ group }, i) =>
    group.flatMap(({ id }, n) => (plans[i]!.waits[n] ? [{ id, at: plans[i]!.waits[n]! }] : [])),
  )
  await postponeDeliveries(tx, waits, now)
  const waiting = new Set(waits.map(({ id }) => id))
  return { admitted: ready.filter(({ id }) => !waiting.has(id)), dueAt: waits.map(({ at }) => at) }
}

/** Retries have their own wait, and replays are requested one by one. */
const isPaced = ({ head, attemptsMade, uncountedAttempts, isReplay, host }: Ready) =>
  head.isCrowd && attemptsMade + uncountedAttempts === 0 && !isReplay && host !== null

/**
 * Counts in a separate, short transaction, so that a claim never holds locks of paces while it waits for other rows. When
 * the claim is rolled back, its requests stay counted. When another transaction holds a pace for too long, the requests of
 * that event to that host are deferred by a second; the others are sent as planned.
 */
async function planGroups(db: Db, groups: Group[], burst: number, now: Date): Promise<Pick<PacePlan, 'waits'>[]> {
  const together = await countRequests(db, groups, burst, now, PACE_LOCK_TIMEOUT_MS)
  if (together !== null) return together
  const plans: Pick<PacePlan, 'waits'>[] = []
  for (const one of groups) {
    const alone = await countRequests(db, [one], burst, now, SINGLE_PACE_LOCK_TIMEOUT_MS)
    plans.push(alone?.[0] ?? { waits: deferAll(one.group.length, now) })
  }
  return plans
}

/** Returns null when a pace is locked; then nothing was counted. */
function countRequests(db: Db, groups: Group[], burst: number, now: Date, lockMs: number): Promise<PacePlan[] | null> {
  const counting = db.transaction(async tx => {
    await setLockTimeout(tx, lockMs)
    const paces = await lockPaces(tx, groups)
    const plans = groups.map(({ group }, i) => planPace(paces[i]!, group.length, burst, now))
    await storePaces(
      tx,
      groups.map(({ eventId, host }, i) => ({ eventId, host, pace: plans[i]!.pace })),
    )
    return plans
  })
  return counting.catch(error => {
    if (isLockTimeout(error)) return null
    throw error
  })
}
