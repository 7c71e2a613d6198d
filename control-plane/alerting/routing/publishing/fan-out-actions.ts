import type { Db, Tx } from '../../../foundation/platform/postgres/client.ts'
import { enqueueDeliveries } from '../../deliveries/queue/enqueue-actions.ts'
import { groupIntoDigests } from '../digests/actions.ts'
import type { AudiencePart } from '../recipients/audience.ts'
import { loadAudienceParts } from '../recipients/audience-store.ts'
import { buildReminders } from '../reminders/reminder.ts'
import { upsertReminders } from '../reminders/store.ts'
import { countEventsInTurn, MAX_DELIVERIES_PER_TURN, MAX_INLINE_LISTENERS } from './fan-out.ts'
import {
  endFanOuts,
  type FanOut,
  holdMonitorRows,
  listFirstFanOuts,
  storeFanOutProgress,
  tryLockProjectTurn,
} from './fan-out-store.ts'
import { type EventRecipients, resolveRecipients, toDeliveries } from './publish-actions.ts'

/** Events that one turn looks at. */
const MAX_EVENTS_PER_TURN = 100

/** `seconds`: how long each event took from its transaction to its last delivery in the queue. */
export type FanOutTurn = { seconds: number[] }

/**
 * Makes the next deliveries of a project's events, in the order of the events and, for one with many listeners, in the
 * order of its channels. How far it came commits with them, so each delivery is made once, whatever process dies. The
 * audience is that of the moment of the turn. Answers null when another process holds the project.
 */
export async function runFanOutTurn(db: Db, projectId: string, now: Date): Promise<FanOutTurn | null> {
  return db.transaction(async tx => {
    if (!(await tryLockProjectTurn(tx, projectId))) return null
    const waiting = await listFirstFanOuts(tx, projectId, MAX_EVENTS_PER_TURN)
    const lost = waiting.filter(({ event }) => event === null)
    await endFanOuts(
      tx,
      lost.map(({ seq }) => seq),
    )
    const present = waiting.filter(isPresent)
    return present.length === 0 ? { seconds: [] } : fanOutNext(tx, present, now)
  })
}

type PresentFanOut = FanOut & { event: NonNullable<FanOut['event']> }
const isPresent = (one: FanOut): one is PresentFanOut => one.event !== null

async function fanOutNext(tx: Tx, waiting: PresentFanOut[], now: Date): Promise<FanOutTurn> {
  const small = await loadEventParts(tx, waiting, MAX_INLINE_LISTENERS)
  const whole = countEventsInTurn(
    small.map(({ hearing, until }) => (until === null ? hearing.channelIds.length : null)),
  )
  const taken =
    whole > 0 ? small.slice(0, whole) : await loadEventParts(tx, waiting.slice(0, 1), MAX_DELIVERIES_PER_TURN)
  const hearings = taken.map(one => one.hearing)
  const reminders = hearings.flatMap(({ event, audience: heard }) => buildReminders(event, heard.rules, now))
  // before the channels, here as everywhere
  await holdMonitorRows(tx, [...new Set(reminders.map(({ monitorId }) => monitorId))])
  await enqueueDeliveries(tx, await groupIntoDigests(tx, taken.flatMap(buildDeliveries), now), now)
  await upsertReminders(tx, reminders)
  for (const { seq, until } of taken) if (until !== null) await storeFanOutProgress(tx, seq, until)
  const ended = taken.filter(({ until }) => until === null).map(({ seq }) => seq)
  return { seconds: await endFanOuts(tx, ended) }
}

type EventPart = { seq: number; hearing: EventRecipients; until: AudiencePart['until']; isContinued: boolean }

/** What others of the event have left before counts for the pace of its requests. */
const buildDeliveries = ({ hearing, isContinued }: EventPart) =>
  toDeliveries(hearing).map(delivery => (isContinued ? { ...delivery, isCrowd: true } : delivery))

async function loadEventParts(tx: Tx, waiting: PresentFanOut[], limit: number): Promise<EventPart[]> {
  const places = waiting.map(({ event, reached }) => ({ event, after: reached }))
  const parts = await loadAudienceParts(tx, places, limit)
  return waiting.map(({ seq, event, reached }, i) => ({
    ...{ seq, hearing: resolveRecipients(event, parts[i]!), until: parts[i]!.until },
    isContinued: reached !== null,
  }))
}
