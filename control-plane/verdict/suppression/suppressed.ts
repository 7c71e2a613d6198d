import { type EventRow, parseMonitorSubject } from '../../alerting/events/catalog.ts'

export type NotifiedStatus = 'up' | 'down' | 'degraded' | null

/** One withheld transition of a monitor. Stored as JSON. */
export type SuppressedTransition = {
  from: NotifiedStatus
  to: 'up' | 'down' | 'degraded'
  /** whether it happened during an outage, which lasts from `down` until `up` */
  wasInOutage: boolean
  transitionId: string
  /** the events of the transition; none for a first verdict `up` */
  eventIds: readonly string[]
}

/**
 * What receivers know of a monitor, and what may have to be sent to them (docs/design/suppression.md#flapping). However
 * often the monitor changes, three transitions are enough: `ended` ended the outage that receivers know, `began` began
 * the outage that they do not know, and `last` is the last one. Stored as JSON.
 */
export type SuppressedChanges = {
  /** the status that receivers know */
  told: NotifiedStatus
  /** the current outage: none, one that receivers know (`told`), or one that they do not know (`untold`) */
  outage: 'none' | 'told' | 'untold'
  ended: SuppressedTransition | null
  began: SuppressedTransition | null
  last: SuppressedTransition | null
}

/** A transition to send; `withoutOutage`: without the outage that it ended, which receivers do not know. */
export type PendingNotification = { transition: SuppressedTransition; withoutOutage: boolean }

export function suppressTransition(
  before: SuppressedChanges | null,
  transition: SuppressedTransition,
): SuppressedChanges {
  const known = before ?? createSuppressedChanges(transition)
  const next = { ...known, last: transition }
  if (transition.to === 'up') {
    if (known.outage === 'told') return { ...next, outage: 'none', ended: transition }
    return { ...next, outage: 'none', began: null }
  }
  if (transition.to === 'down' && known.outage === 'none') return { ...next, outage: 'untold', began: transition }
  return next
}

/** Whether the last withheld transition ended an outage that receivers do not know, so that its end is not sent. */
export const endsUnknownOutage = ({ ended }: SuppressedChanges, { to, transitionId }: LastTransition): boolean =>
  to === 'up' && ended?.transitionId !== transitionId

type LastTransition = Pick<SuppressedTransition, 'to' | 'transitionId'>

function createSuppressedChanges({ from, wasInOutage }: SuppressedTransition): SuppressedChanges {
  return { told: from, outage: wasInOutage ? 'told' : 'none', ended: null, began: null, last: null }
}

/**
 * What has to be sent when no reason is left, in order: the end of the outage that receivers know, the beginning of the
 * current one, and the current status if it differs from that. An outage that began and ended meanwhile is not sent, so
 * receivers get no `down` without an `up`, or the reverse.
 */
export function listPendingNotifications({ told, ended, began, last }: SuppressedChanges): PendingNotification[] {
  const list: PendingNotification[] = []
  let status = told
  if (ended !== null) {
    list.push({ transition: ended, withoutOutage: false })
    status = 'up'
  }
  if (began !== null) {
    list.push({ transition: began, withoutOutage: false })
    status = 'down'
  }
  // a first verdict `up` is not sent
  const isChange = last !== null && last.to !== status && !(last.to === 'up' && status === null)
  if (isChange) list.push({ transition: last, withoutOutage: last.to === 'up' && last.wasInOutage })
  return list
}

/** What is sent for a monitor that leaves the verdict: the end of an outage that receivers know, if it has ended. */
export function listNotificationsOnRemoval({ ended }: SuppressedChanges): PendingNotification[] {
  return ended === null ? [] : [{ transition: ended, withoutOutage: false }]
}

/**
 * A recovery for receivers that know of a degradation before an outage, but not of the outage: a recovery from
 * `degraded`, without duration and incident. Returns nothing for other events, such as the end of an incident that was
 * not published.
 */
export function removeOutage(id: string, event: EventRow): EventRow[] {
  if (parseMonitorSubject(event.subject) === null || !('down_duration' in event.data)) return []
  return [{ ...event, id, data: { ...event.data, down_duration: null, incident: null } }]
}
