import { groupBy } from '../../shared/group-by.ts'
import { hostUnderLoad } from '../channels/destination.ts'
import type { Tx } from '../platform/postgres.ts'
import type { Head } from './lane-store.ts'
import { BURST, planned } from './pace.ts'
import { lockPaces, putOff, storePaces } from './pace-store.ts'
import type { Prepared } from './prepare.ts'

type Ready = Prepared & { head: Head }

/**
 * Of one event the first requests to a host leave at once, the others one a second, over all processes, so that no account
 * makes of one event a flood to one receiver. Answers those that leave now, and when the others are due. Only an event of
 * many deliveries is looked at.
 */
export async function paceRequests(tx: Tx, ready: Ready[], burst = BURST, now: Date) {
  const byDestination = groupBy(ready.filter(isPaced), one => `${one.head.eventId} ${hostOf(one)}`)
  if (byDestination.size === 0) return { leaving: ready, dueAt: [] }
  const groups = [...byDestination.values()].map(group => ({
    ...{ eventId: group[0]!.head.eventId, host: hostOf(group[0]!)! },
    group,
  }))
  const paces = await lockPaces(tx, groups)
  const plans = groups.map((one, i) => ({ ...one, ...planned(paces[i]!, one.group.length, burst, now) }))
  await storePaces(tx, plans)
  const waits = plans.flatMap(({ group, waits }) =>
    group.flatMap(({ id }, i) => (waits[i] ? [{ id, at: waits[i]! }] : [])),
  )
  await putOff(tx, waits, now)
  const waiting = new Set(waits.map(({ id }) => id))
  return { leaving: ready.filter(({ id }) => !waiting.has(id)), dueAt: waits.map(({ at }) => at) }
}

/** Retries have a wait of their own, and replays are asked for one by one. */
const isPaced = (one: Ready) =>
  one.head.isCrowd && one.attemptsMade === 0 && !one.head.isReplay && one.chat === null && hostOf(one) !== null

const hostOf = ({ message }: Ready): string | null => (message.via === 'http' ? hostUnderLoad(message.url) : null)
