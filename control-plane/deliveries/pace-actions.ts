import { groupBy } from '../../shared/group-by.ts'
import { type Db, isLockTimeout, type Tx, waitAtMost } from '../platform/postgres.ts'
import type { Head } from './lane-store.ts'
import { allLater, BURST, type Planned, planned } from './pace.ts'
import { type Destination, lockPaces, putOff, storePaces } from './pace-store.ts'
import type { Prepared } from './prepare.ts'

type Ready = Prepared & { head: Head }
type Group = Destination & { group: Ready[] }

/** `db`: where requests are counted, in transactions of their own */
type Tools = { db: Db; webhookBurst?: number }

/** For one pace; counting takes milliseconds. */
const PACE_LOCK_MS = 100
/** For a pace that is tried alone, after the wait for all of them. */
const LOCK_AGAIN_MS = 10

/**
 * Of one event the first requests to a host leave at once, the others one a second, over all processes, so that no account
 * makes of one event a flood to one receiver. Answers those that leave now, and when the others are due. Only an event of
 * many deliveries is looked at.
 */
export async function paceRequests(tx: Tx, ready: Ready[], { db, webhookBurst = BURST }: Tools, now: Date) {
  const byDestination = groupBy(ready.filter(isPaced), one => `${one.head.eventId} ${one.host}`)
  if (byDestination.size === 0) return { leaving: ready, dueAt: [] }
  const groups = [...byDestination.values()].map(group => ({
    ...{ eventId: group[0]!.head.eventId, host: group[0]!.host! },
    group,
  }))
  const plans = await plansOf(db, groups, webhookBurst, now)
  const waits = groups.flatMap(({ group }, i) =>
    group.flatMap(({ id }, n) => (plans[i]!.waits[n] ? [{ id, at: plans[i]!.waits[n]! }] : [])),
  )
  await putOff(tx, waits, now)
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
async function plansOf(db: Db, groups: Group[], burst: number, now: Date): Promise<Pick<Planned, 'waits'>[]> {
  const together = await take(db, groups, burst, now, PACE_LOCK_MS)
  if (together !== null) return together
  const plans: Pick<Planned, 'waits'>[] = []
  for (const one of groups) {
    const alone = await take(db, [one], burst, now, LOCK_AGAIN_MS)
    plans.push(alone?.[0] ?? { waits: allLater(one.group.length, now) })
  }
  return plans
}

/** Null when a pace is locked: nothing was counted. */
function take(db: Db, groups: Group[], burst: number, now: Date, lockMs: number): Promise<Planned[] | null> {
  const counting = db.transaction(async tx => {
    await waitAtMost(tx, lockMs)
    const paces = await lockPaces(tx, groups)
    const plans = groups.map(({ group }, i) => planned(paces[i]!, group.length, burst, now))
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
