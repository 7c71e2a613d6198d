import { groupBy } from '../../../../shared/group-by.ts'
import { type Db, isLockTimeout, setLockTimeout, type Tx } from '../../../foundation/platform/postgres/client.ts'
import type { QueuedDelivery } from '../queue/lane-store.ts'
import type { PreparedDelivery } from '../rendering/prepare.ts'
import { DEFAULT_BURST, deferAll, type PacePlan, planPace } from './pace.ts'
import { lockPaces, type PacedDestination, postponeDeliveries, storePaces } from './pace-store.ts'

type Ready = PreparedDelivery & { head: QueuedDelivery }
type Group = PacedDestination & { group: Ready[] }

/** `db`: where requests are counted, in transactions of their own */
type Tools = { db: Db; webhookBurst?: number }

/** For one pace; counting takes milliseconds. */
const PACE_LOCK_TIMEOUT_MS = 100
/** For a pace that is tried alone, after the wait for all of them. */
const SINGLE_PACE_LOCK_TIMEOUT_MS = 10

/**
 * Of one event the first requests to a host leave at once, the others one a second, over all processes, so that no account
 * makes of one event a flood to one receiver. Answers those that leave now, and when the others are due. Only an event of
 * many deliveries is looked at.
 */
export async function paceRequests(tx: Tx, ready: Ready[], { db, webhookBurst = DEFAULT_BURST }: Tools, now: Date) {
  const byDestination = groupBy(ready.filter(isPaced), one => `${one.head.eventId} ${one.host}`)
  if (byDestination.size === 0) return { leaving: ready, dueAt: [] }
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
  return { leaving: ready.filter(({ id }) => !waiting.has(id)), dueAt: waits.map(({ at }) => at) }
}

/** Retries have a wait of their own, and replays are asked for one by one. */
const isPaced = (one: Ready) => one.head.isCrowd && one.attemptsMade === 0 && !one.head.isReplay && one.host !== null

/**
 * In a transaction of its own: while claims hold other rows, no pace is locked, and a claim that goes silent holds none. When
 * the claim is rolled back, its requests stay counted. Where another transaction holds a pace for long, the requests of that
 * event to that host are looked at again a second later; the others leave as planned.
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

/** Null when a pace is locked: nothing was counted. */
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
