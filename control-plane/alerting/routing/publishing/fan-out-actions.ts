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

/** How many events one turn reads. */
const MAX_EVENTS_PER_TURN = 100

/** `seconds`: for each event, the time from its transaction until its last delivery was queued. */
type FanOutTurn = { seconds: number[] }

/**
 * Makes the next deliveries of a project's events (docs/design/alerting.md#fan-out):
 * 1. Take the project's turn, or return null when another process has it.
 * 2. Read the first waiting events. Drop those whose event was deleted.
 * 3. Read the recipients: of several events, if they fit into a turn, else a part of the first event in the order of its
 *    channels.
 * 4. Batch the deliveries into digests, queue them, and start reminders.
 * 5. Store the progress. It commits with the deliveries, so each delivery is made once.
 */
export async function runFanOutTurn(db: Db, projectId: string, now: Date): Promise<FanOutTurn | null> {
  return db.transaction(async tx => {
    if (!(await tryLockProjectTurn(tx, projectId))) return null
    const waiting = await listFirstFanOuts(tx, projectId, MAX_EVENTS_PER_TURN)
    const deleted = waiting.filter(({ event }) => event === null)
    await endFanOuts(
      tx,
      deleted.map(({ seq }) => seq),
    )
    const present = waiting.filter(isPresent)
    return present.length === 0 ? { seconds: [] } : fanOutNext(tx, present, now)
  })
}

type PresentFanOut = FanOut & { event: NonNullable<FanOut['event']> }
const isPresent = (one: FanOut): one is PresentFanOut => one.event !== null

async function fanOutNext(tx: Tx, waiting: PresentFanOut[], now: Date): Promise<FanOutTurn> {
  const small = await loadEventParts(tx, waiting, MAX_INLINE_LISTENERS)
  const count = countEventsInTurn(
    small.map(({ recipients, until }) => (until === null ? recipients.channelIds.length : null)),
  )
  const parts =
    count > 0 ? small.slice(0, count) : await loadEventParts(tx, waiting.slice(0, 1), MAX_DELIVERIES_PER_TURN)
  const reminders = parts.flatMap(({ recipients: { event, audience } }) => buildReminders(event, audience.rules, now))
  // monitors are locked before channels, as in all other transactions
  await holdMonitorRows(tx, [...new Set(reminders.map(({ monitorId }) => monitorId))])
  await enqueueDeliveries(tx, await groupIntoDigests(tx, parts.flatMap(buildDeliveries), now), now)
  await upsertReminders(tx, reminders)
  for (const { seq, until } of parts) if (until !== null) await storeFanOutProgress(tx, seq, until)
  const ended = parts.filter(({ until }) => until === null).map(({ seq }) => seq)
  return { seconds: await endFanOuts(tx, ended) }
}

type EventPart = { seq: number; recipients: EventRecipients; until: AudiencePart['until']; isContinued: boolean }

/** Deliveries of a continued event count as part of a large event for the pace of its requests. */
const buildDeliveries = ({ recipients, isContinued }: EventPart) =>
  toDeliveries(recipients).map(delivery => (isContinued ? { ...delivery, isCrowd: true } : delivery))

async function loadEventParts(tx: Tx, waiting: PresentFanOut[], limit: number): Promise<EventPart[]> {
  const places = waiting.map(({ event, reached }) => ({ event, after: reached }))
  const parts = await loadAudienceParts(tx, places, limit)
  return waiting.map(({ seq, event, reached }, i) => ({
    ...{ seq, recipients: resolveRecipients(event, parts[i]!), until: parts[i]!.until },
    isContinued: reached !== null,
  }))
}
