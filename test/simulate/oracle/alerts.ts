import type { Chronicle, CommittedTransition, MonitorHistory, RecordedFault, SentNotification } from './chronicle.ts'
import { createFaultIndex, describeCause, extendLimit, type FaultIndex } from './faults-under-way.ts'
import { createMaintenanceTimes, type MaintenanceTimes } from './maintenance-times.ts'

/** What must never happen to alerts (docs/design/suppression.md#guarantee). */
export const ALERT_VIOLATIONS = [
  'sent in maintenance',
  'not sent',
  'sent late',
  'sent twice',
  'up without down',
  'sent after its end',
] as const

type AlertFinding = {
  what: (typeof ALERT_VIOLATIONS)[number]
  monitorId: string
  index: number
  atMs: number
  regions: number
  cause: string
  details: string
  faults: RecordedFault[]
  isBroken: true
}

/** `withheld`: changes that were not sent when they were committed; `sentLater`: notifications of such changes. */
export type AlertFigures = { windows: number; withheld: number; sentLater: number }

/** After the end of maintenance, receivers must know the current status within this time. */
const KNOWN_WITHIN_MS = 30_000
/** Faults of other parts have no effect on what is sent about a committed change. */
const DELAYS_REVIEWS = /^(postgres-|control-plane-redeployed$|fleet-killed$|verdict-)/
const LINGERS_MS = 120_000

/** Compares what was sent with the committed changes and with maintenance (docs/design/suppression.md). */
export function evaluateAlerts(chronicle: Chronicle): { figures: AlertFigures; findings: AlertFinding[] } {
  const findTimes = createMaintenanceTimes(chronicle)
  const index = createFaultIndex({
    ...chronicle,
    faults: chronicle.faults.filter(({ kind }) => DELAYS_REVIEWS.test(kind)),
  })
  const figures = { windows: chronicle.windows.length, withheld: 0, sentLater: 0 }
  const findings: AlertFinding[] = []
  for (const [i, monitor] of chronicle.monitors.entries()) {
    const transitions = chronicle.transitions.filter(({ monitorId }) => monitorId === monitor.id)
    const notifications = chronicle.notifications.filter(({ monitorId }) => monitorId === monitor.id)
    const later = notifications.filter(one => !transitions.some(transition => isAbout(one, transition)))
    figures.sentLater += later.length
    figures.withheld += transitions.filter(
      one => isSentUsually(one) && !notifications.some(notification => isAbout(notification, one)),
    ).length
    const pauses = listPauses(monitor, chronicle.faults)
    const { endMs } = chronicle
    const scope: Scope = { notifications, later, transitions, times: findTimes(monitor.id), index, pauses, endMs }
    for (const { what, atMs, details } of [...findWronglySent(scope), ...findUnknownStatuses(scope)]) {
      const { regions } = monitor.settings.findLast(({ fromMs }) => fromMs <= atMs) ?? monitor.settings[0]!
      const faults = index.all(atMs - LINGERS_MS, atMs)
      const about = { monitorId: monitor.id, index: i, regions: regions.length, faults, isBroken: true as const }
      findings.push({ ...about, what, atMs, details, cause: describeCause(faults) })
    }
  }
  return { figures, findings }
}

type Scope = {
  transitions: CommittedTransition[]
  notifications: SentNotification[]
  /** those that were sent after the commit of their change */
  later: SentNotification[]
  times: MaintenanceTimes
  index: FaultIndex
  pauses: number[]
  endMs: number
}

type AlertProblem = Pick<AlertFinding, 'what' | 'atMs' | 'details'>

const isAbout = (notification: SentNotification, { atMs, from, to }: CommittedTransition) =>
  notification.atMs === atMs && notification.status === to && from !== to
/** A status that is shown again is not sent, and neither is a first verdict `up`. */
const isSentUsually = ({ from, to }: CommittedTransition) =>
  to !== null && from !== to && !(from === null && to === 'up')

/** Notifications that receivers should not have got. */
function findWronglySent({ notifications, later, times, pauses }: Scope): AlertProblem[] {
  const found: AlertProblem[] = []
  for (const [i, one] of notifications.entries()) {
    const { atMs, status } = one
    const previous = notifications[i - 1]
    const before = previous && !pauses.some(ms => ms >= previous.atMs && ms < atMs) ? previous : null
    const isLeaving = status === 'up' && pauses.includes(atMs)
    if (!isLeaving && times.certain.some(({ fromMs, toMs }) => atMs >= fromMs && atMs < toMs))
      found.push({ what: 'sent in maintenance', atMs, details: status })
    if (before?.status === status) found.push({ what: 'sent twice', atMs, details: status })
    if (before === null && status === 'up')
      found.push({ what: 'up without down', atMs, details: 'nothing was sent before' })
    if (before?.atMs === atMs && before.status === 'down' && status === 'up' && later.includes(before))
      found.push({ what: 'sent after its end', atMs, details: 'down and up' })
  }
  return found
}

/** A time during which receivers did not know the status; `endedBy`: what ended it. */
type Gap = { fromMs: number; toMs: number; status: string; known: string | null; endedBy: AlertStep['kind'] | null }
type AlertStep = { atMs: number; kind: 'changed' | 'sent' | 'paused'; status: string | null }

/** The gaps that lasted for longer than is allowed. */
function findUnknownStatuses(scope: Scope): AlertProblem[] {
  return listGaps(scope).flatMap(({ fromMs, toMs, status, known, endedBy }) => {
    const deadlineMs = findDeadline(scope, fromMs)
    if (toMs <= deadlineMs) return []
    const [tookS, allowedS] = [toMs, deadlineMs].map(ms => Math.round((ms - fromMs) / 1000))
    const details = `${status}, known ${known ?? 'nothing'}, for ${tookS} s, allowed ${allowedS} s`
    return [{ what: endedBy === 'sent' ? 'sent late' : 'not sent', atMs: fromMs, details } as const]
  })
}

function listGaps(scope: Scope): Gap[] {
  const gaps: Gap[] = []
  let known: string | null = null
  let current: string | null = null
  let open: Gap | null = null
  for (const { atMs, kind, status } of listSteps(scope)) {
    if (kind === 'changed') current = status
    else if (kind === 'sent') known = status
    else {
      known = null
      current = null
    }
    // a first verdict `up` is not sent
    if (current !== null && current !== (known ?? 'up'))
      open ??= { fromMs: atMs, toMs: scope.endMs, status: current, known, endedBy: null }
    else if (open !== null) {
      gaps.push({ ...open, toMs: atMs, endedBy: kind })
      open = null
    }
  }
  return open === null ? gaps : [...gaps, open]
}

/** In order of time; sorting keeps this order at the same time. */
function listSteps({ transitions, notifications, pauses }: Scope): AlertStep[] {
  const steps: AlertStep[] = [
    ...transitions.flatMap(({ atMs, to }) => (to === null ? [] : { atMs, kind: 'changed' as const, status: to })),
    ...notifications.map(({ atMs, status }) => ({ atMs, kind: 'sent' as const, status })),
    ...pauses.map(atMs => ({ atMs, kind: 'paused' as const, status: null })),
  ]
  return steps.sort((a, b) => a.atMs - b.atMs)
}

/** Until when receivers must know a status that changed then: at once, or after the end of maintenance. */
function findDeadline({ times, index }: Scope, fromMs: number): number {
  let deadlineMs = fromMs
  for (const span of times.possible) {
    if (span.fromMs > deadlineMs) break
    // no check is waited for, so the interval of the monitor does not matter
    const { limitMs } = extendLimit(index, span.toMs, KNOWN_WITHIN_MS, { regions: [], intervalS: 0 }, 1)
    deadlineMs = Math.max(deadlineMs, span.toMs + limitMs)
  }
  return deadlineMs
}

/** When a monitor was paused, which ends what receivers know. A pause that a restored PostgreSQL lacks did not happen. */
function listPauses({ settings }: MonitorHistory, faults: readonly RecordedFault[]): number[] {
  const restores = faults.filter(({ kind }) => kind === 'postgres-restored')
  return settings
    .filter(({ isPaused }, i) => isPaused && !settings[i - 1]?.isPaused)
    .map(({ fromMs }) => fromMs)
    .filter(ms => !restores.some(({ fromMs, toMs, size }) => ms >= fromMs - size && ms < toMs))
}
