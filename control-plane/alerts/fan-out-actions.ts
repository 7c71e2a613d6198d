import { enqueueDeliveries } from '../deliveries/actions.ts'
import type { Db, Tx } from '../platform/postgres.ts'
import { type Hearing, hearingOf, toDeliveries } from './announce-actions.ts'
import type { Part } from './audience.ts'
import { readParts } from './audience-store.ts'
import { gatherDigests } from './digest-actions.ts'
import { FEW, TURN, wholeInTurn } from './fan-out.ts'
import { endFanOuts, type FanOut, firstFanOuts, holdMonitorsOf, holdTurn, storeReached } from './fan-out-store.ts'
import { upsertReminders } from './reminder-store.ts'
import { remindersOf } from './reminders.ts'

/** Events that one turn looks at. */
const AT_ONCE = 100

/** `seconds`: how long each event took from its transaction to its last delivery in the queue. */
export type Turn = { seconds: number[] }

/**
 * Makes the next deliveries of a project's events, in the order of the events and, for one with many listeners, in the
 * order of its channels. How far it came commits with them, so each delivery is made once, whatever process dies. The
 * audience is that of the moment of the turn. Answers null when another process holds the project.
 */
export async function takeTurn(db: Db, projectId: string, now: Date): Promise<Turn | null> {
  return db.transaction(async tx => {
    if (!(await holdTurn(tx, projectId))) return null
    const waiting = await firstFanOuts(tx, projectId, AT_ONCE)
    const lost = waiting.filter(({ event }) => event === null)
    await endFanOuts(
      tx,
      lost.map(({ seq }) => seq),
    )
    const present = waiting.filter(isPresent)
    return present.length === 0 ? { seconds: [] } : fanOutNext(tx, present, now)
  })
}

type Present = FanOut & { event: NonNullable<FanOut['event']> }
const isPresent = (one: FanOut): one is Present => one.event !== null

async function fanOutNext(tx: Tx, waiting: Present[], now: Date): Promise<Turn> {
  const small = await partsOf(tx, waiting, FEW)
  const whole = wholeInTurn(small.map(({ hearing, until }) => (until === null ? hearing.channelIds.length : null)))
  const taken = whole > 0 ? small.slice(0, whole) : await partsOf(tx, waiting.slice(0, 1), TURN)
  const hearings = taken.map(one => one.hearing)
  const reminders = hearings.flatMap(({ event, heard }) => remindersOf(event, heard.rules, now))
  // before the channels, here as everywhere
  await holdMonitorsOf(tx, [...new Set(reminders.map(({ monitorId }) => monitorId))])
  await enqueueDeliveries(tx, await gatherDigests(tx, taken.flatMap(deliveriesOf), now), now)
  await upsertReminders(tx, reminders)
  for (const { seq, until } of taken) if (until !== null) await storeReached(tx, seq, until)
  const ended = taken.filter(({ until }) => until === null).map(({ seq }) => seq)
  return { seconds: await endFanOuts(tx, ended) }
}

type EventPart = { seq: number; hearing: Hearing; until: Part['until']; isContinued: boolean }

/** What others of the event have left before counts for the pace of its requests. */
const deliveriesOf = ({ hearing, isContinued }: EventPart) =>
  toDeliveries(hearing).map(delivery => (isContinued ? { ...delivery, isCrowd: true } : delivery))

async function partsOf(tx: Tx, waiting: Present[], limit: number): Promise<EventPart[]> {
  const places = waiting.map(({ event, reached }) => ({ event, after: reached }))
  const parts = await readParts(tx, places, limit)
  return waiting.map(({ seq, event, reached }, i) => ({
    ...{ seq, hearing: hearingOf(event, parts[i]!), until: parts[i]!.until },
    isContinued: reached !== null,
  }))
}
