import { buildMonitorEvent } from '../../control-plane/verdict/core/monitor-event.ts'
import { wasInOutage } from '../../control-plane/verdict/core/rules/transition.ts'
import type { StatusTransition } from '../../control-plane/verdict/core/types.ts'
import { buildSuppressionConditions } from '../../control-plane/verdict/suppression/ancestors.ts'
import { computeSilence, reviewSilence } from '../../control-plane/verdict/suppression/decisions.ts'
import type { Silence } from '../../control-plane/verdict/suppression/store.ts'
import {
  listNotificationsOnRemoval,
  listPendingNotifications,
  type PendingNotification,
} from '../../control-plane/verdict/suppression/suppressed.ts'
import type { MonitorRow } from './database.ts'
import { BEGIN_MS } from './installation.ts'
import type { SentNotification } from './oracle/chronicle.ts'
import type { Host } from './time.ts'

/** A row of `maintenance_periods`. `storedMs`: since the beginning of the simulation. */
type PeriodRow = { monitorId: string; startsAt: Date; endsAt: Date; storedMs: number }

/** The rows about alerts. A restore resets them, too. */
export type AlertRows = { periods: PeriodRow[]; silences: Map<string, Silence>; sent: SentNotification[] }

/** The part of the database with these rows. `wakeReviews` is `NOTIFY silences`. */
type AlertStore = {
  alerts: () => AlertRows
  monitor: (id: string) => MonitorRow | undefined
  wakeReviews: () => void
}

/** `now`: PostgreSQL's time as the process knows it. `atMs`: since the beginning of the simulation. */
type Moment = { now: Date; atMs: number }

/** Sends a committed change of a status, or withholds it, like `suppressEvents`. */
export function sendOrWithhold(store: AlertStore, row: MonitorRow, transition: StatusTransition, moment: Moment): void {
  const { from, to } = transition
  if (from === to) return
  const { silences } = store.alerts()
  const monitor = { id: row.id, projectId: '', name: '', url: null, type: 'http' }
  const id = `${row.id} ${transition.atMs}`
  const event = buildMonitorEvent(id, monitor, transition, null, '')
  const step = { from, to, wasInOutage: wasInOutage(transition), transitionId: id, eventIds: event ? [event.id] : [] }
  const context = loadContext(store, row.id, moment.now)
  const silence = computeSilence(toTiming(row), step, silences.get(row.id), context, moment.now)
  if (silence === null) {
    send(store, row.id, [{ transition: step, withoutOutage: false }], moment.atMs)
    return
  }
  // like `scheduleReview`, because the monitor may have dependents
  const isTurned = from === 'down' || to === 'down'
  silences.set(row.id, isTurned ? { ...silence, dueAt: moment.now } : silence)
  store.wakeReviews()
}

/** Reviews the silences that are due, like `reviewDueSilences`. Returns when the next one is due; null if there is none. */
function reviewDueAlerts(store: AlertStore, moment: Moment): Date | null {
  const { silences } = store.alerts()
  const { now } = moment
  for (const silence of [...silences.values()].filter(({ dueAt }) => dueAt <= now)) {
    const { monitorId } = silence
    const row = store.monitor(monitorId)!
    const { waiting } = reviewSilence(
      silence,
      { ...toTiming(row), isOutdated: false },
      loadContext(store, monitorId, now),
      now,
    )
    if (waiting !== null) {
      silences.set(monitorId, waiting)
      store.wakeReviews()
      continue
    }
    silences.delete(monitorId)
    send(store, monitorId, listPendingNotifications(silence.withheld), moment.atMs)
  }
  const dueMs = [...silences.values()].map(({ dueAt }) => dueAt.getTime())
  return dueMs.length === 0 ? null : new Date(Math.min(...dueMs))
}

/** Ends the silence of a monitor that leaves the verdict, like `endSilences`. */
export function endSilence(store: AlertStore, monitorId: string, atMs: number): void {
  const { silences } = store.alerts()
  const silence = silences.get(monitorId)
  if (!silence) return
  silences.delete(monitorId)
  send(store, monitorId, listNotificationsOnRemoval(silence.withheld), atMs)
}

/** Like `loadEventsToSend`: a change without an event, such as a first verdict `up`, sends nothing. */
function send(store: AlertStore, monitorId: string, pending: PendingNotification[], atMs: number): void {
  for (const { transition } of pending)
    for (const _event of transition.eventIds) store.alerts().sent.push({ monitorId, atMs, status: transition.to })
}

/** Like `loadSuppressionContexts`, for monitors without parents. */
function loadContext(store: AlertStore, monitorId: string, now: Date) {
  const ends = store
    .alerts()
    .periods.filter(one => one.monitorId === monitorId && one.startsAt <= now && one.endsAt > now)
    .map(({ endsAt }) => endsAt.getTime())
  const until = ends.length === 0 ? null : new Date(Math.max(...ends))
  return { conditions: buildSuppressionConditions([], until, null), causedBy: null }
}

const toTiming = ({ id, settings }: MonitorRow) => ({
  ...{ id, intervalSeconds: settings.intervalS, timeoutMs: settings.timeoutMs, retryCount: settings.retryCount },
  ...{ heartbeatInterval: null, isHeartbeat: false },
})

/** What a process needs to know PostgreSQL's time. */
type ClockSource = { clockMs: () => number; isUnavailable: () => boolean; onClock: Subscribe }
type Subscribe = (listener: () => boolean) => void

const FOLLOWED_WITHIN_MS = 2_000

/** PostgreSQL's time as a process knows it, like `now` of the programs: a clock that is set is followed within 2 s. */
export function followDatabaseClock({ machine, isAlive }: Host, source: ClockSource): () => Date {
  const readAheadMs = () => source.clockMs() - BEGIN_MS - machine.monotonicMs()
  let aheadMs = readAheadMs()
  const learn = () => {
    if (source.isUnavailable()) machine.after(FOLLOWED_WITHIN_MS, learn)
    else aheadMs = readAheadMs()
  }
  source.onClock(() => {
    machine.after(machine.random() * FOLLOWED_WITHIN_MS, learn)
    return isAlive()
  })
  return () => new Date(BEGIN_MS + Math.floor(machine.monotonicMs() + aheadMs))
}

const POLL_MS = 10_000
const RETRY_MS = 500
const NOTIFIED_AFTER_MS = 5

/** The worker of one process that reviews silences, like `startSuppressionWorker`. */
export function startReviews(host: Host, database: AlertStore & ClockSource & { onSilences: Subscribe }): void {
  const { machine, isAlive } = host
  const now = followDatabaseClock(host, database)
  let cancel = () => {}
  function round(): void {
    cancel()
    cancel = machine.after(POLL_MS, round)
    if (database.isUnavailable()) return
    const next = reviewDueAlerts(database, { now: now(), atMs: machine.monotonicMs() })
    if (next === null) return
    const waitMs = Math.max(RETRY_MS, next.getTime() - now().getTime())
    if (waitMs >= POLL_MS) return
    cancel()
    cancel = machine.after(waitMs, round)
  }
  database.onSilences(() => {
    machine.after(NOTIFIED_AFTER_MS, round)
    return isAlive()
  })
  round()
}
