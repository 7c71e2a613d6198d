export type NotifiedStatus = 'up' | 'down' | 'degraded' | null

/** One transition of a monitor as far as telling of it goes. JSON throughout. */
export type SuppressedTransition = {
  from: NotifiedStatus
  to: 'up' | 'down' | 'degraded'
  /** whether it came in an outage, which lasts from reaching down until reaching up (decisions 4.5) */
  wasInOutage: boolean
  transitionId: string
  /** what it would be told by; none for a first verdict that is up */
  eventIds: readonly string[]
}

/**
 * What receivers believe of a monitor, and what may have to be told to them. However often it changes, three steps are
 * enough: the one that ended the outage that they know of, the one that began the outage they do not know of, and the
 * last one.
 */
export type SuppressedChanges = {
  told: NotifiedStatus
  /** the outage that goes on now: none, one that receivers know of, or one that they do not */
  outage: 'none' | 'told' | 'untold'
  ended: SuppressedTransition | null
  began: SuppressedTransition | null
  last: SuppressedTransition | null
}

/** A transition to tell; `quietly`: without the outage that it ended, which nobody was told of. */
export type PendingNotification = { transition: SuppressedTransition; withoutOutage: boolean }

export function suppressTransition(before: SuppressedChanges | null, transition: SuppressedTransition): SuppressedChanges {
  const known = before ?? createSuppressedChanges(transition)
  const next = { ...known, last: transition }
  if (transition.to === 'up') {
    if (known.outage === 'told') return { ...next, outage: 'none', ended: transition }
    return { ...next, outage: 'none', began: null }
  }
  if (transition.to === 'down' && known.outage === 'none') return { ...next, outage: 'untold', began: transition }
  return next
}

function createSuppressedChanges({ from, wasInOutage }: SuppressedTransition): SuppressedChanges {
  return { told: from, outage: wasInOutage ? 'told' : 'none', ended: null, began: null, last: null }
}

/**
 * What has to be told once nothing keeps silent any more, in order: the end of the outage that was told, the beginning
 * of the one that goes on, and where the monitor is now if that is elsewhere. An outage that began and ended meanwhile
 * is told to nobody, so there is no DOWN without an UP nor the other way round.
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
  // a first verdict that is up is told to nobody (decisions 4.5)
  const isNews = last !== null && last.to !== status && !(last.to === 'up' && status === null)
  if (isNews) list.push({ transition: last, withoutOutage: last.to === 'up' && last.wasInOutage })
  return list
}

/** What is told of a monitor that leaves the verdict (decisions 4.8): of an outage that was told and is over, its end. */
export function listNotificationsOnRemoval({ ended }: SuppressedChanges): PendingNotification[] {
  return ended === null ? [] : [{ transition: ended, withoutOutage: false }]
}
