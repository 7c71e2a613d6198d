import { toIncidentSubject } from '../../alerting/events/catalog.ts'
import { formatDuration } from '../../alerting/events/duration.ts'
import { publishEvents } from '../../alerting/routing/publishing/publish-actions.ts'
import { newId } from '../../foundation/platform/ids.ts'
import { isInvalidRowError, type Tx } from '../../foundation/platform/postgres/client.ts'
import { listMonitorsByIds, lockMonitors, type MonitorVersion } from '../../monitoring/monitors/store.ts'
import type { StoredMonitor } from '../../monitoring/monitors/types.ts'
import {
  type AffectedIncidents,
  listOpenAutomaticIncidents,
  openAutomaticIncidents,
  type Resolution,
  resolveAutomaticIncidents,
} from '../incidents/automatic-actions.ts'
import { formatRecoveryMessage, type MonitorOutage } from '../incidents/lifecycle.ts'
import { type StatusChange, suppressEvents } from '../suppression/actions.ts'
import { scheduleReview } from '../suppression/store.ts'
import { formatExplanation } from './explanation-text.ts'
import { buildMonitorEvent } from './monitor-event.ts'
import { wasInOutage } from './outage.ts'
import { insertTransitions, storeStates, storeStatuses } from './store.ts'
import type { MonitorState, StatusTransition, VerdictStatus } from './types.ts'

/** What has to be stored of one monitor: its state in the end, and the transitions on the way there, in order. */
export type VerdictChange = {
  monitorId: string
  /** of the policy that decided */
  configVersion: number
  state: MonitorState
  transitions: StatusTransition[]
}

/** Changes of monitors that were paused, deleted or changed meanwhile are discarded (decisions 4.8). */
export type ApplyResult = { discarded: string[] }

/**
 * `at`: when it happened, but never before the monitor's last change, whichever clock that one was taken from. `shown`:
 * the status until then, null while nothing could be said of a monitor, whatever its state remembers.
 */
type TransitionStep = {
  id: string
  monitor: StoredMonitor
  shown: VerdictStatus
  transition: StatusTransition
  at: Date
}

/**
 * Stores decisions with everything that follows from them (decisions 4.8): states, statuses, transitions, incidents,
 * events and deliveries, set-based, on monitor rows locked in the order of ids, in the caller's transaction.
 */
export async function applyDecisions(
  tx: Tx,
  changes: VerdictChange[],
  publicUrl: string,
  now: Date,
): Promise<ApplyResult> {
  const monitors = await lockMonitors(
    tx,
    changes.map(change => change.monitorId),
  )
  return applyDecisionsLocked(tx, monitors, changes, publicUrl, now)
}

/** The same on monitors that the caller has `locked`; changes of others are discarded. */
export async function applyDecisionsLocked(
  tx: Tx,
  locked: MonitorVersion[],
  changes: VerdictChange[],
  publicUrl: string,
  now: Date,
): Promise<ApplyResult> {
  const versions = new Map(locked.map(monitor => [monitor.id, monitor]))
  const valid: VerdictChange[] = []
  const discarded: string[] = []
  for (const change of changes) {
    if (isStillCurrent(change, versions.get(change.monitorId))) valid.push(change)
    else discarded.push(change.monitorId)
  }
  await storeStates(
    tx,
    valid.map(change => change.state),
    now,
  )
  const moved = valid.filter(({ transitions }) => transitions.length > 0)
  if (moved.length > 0) await storeTransitions(tx, moved, publicUrl, now)
  return { discarded }
}

/** The transitions of locked monitors, with all that follows from them. */
async function storeTransitions(tx: Tx, changes: VerdictChange[], publicUrl: string, now: Date): Promise<void> {
  const monitors = await listMonitorsByIds(
    tx,
    changes.map(({ monitorId }) => monitorId),
  )
  const byId = new Map(monitors.map(monitor => [monitor.id, monitor]))
  // a monitor may have changed twice in one batch; each round takes the next transition of each monitor
  const lastMs = new Map(monitors.map(({ id, statusChangedAt }) => [id, statusChangedAt?.getTime() ?? 0]))
  for (let round = 0; ; round++) {
    const steps = changes.flatMap(({ monitorId, transitions }) => {
      const transition = transitions[round]
      if (!transition) return []
      const atMs = Math.max(transition.atMs, lastMs.get(monitorId)!)
      lastMs.set(monitorId, atMs)
      const monitor = byId.get(monitorId)!
      const shown = round === 0 ? monitor.status : transition.from
      return [{ id: newId(), monitor, shown, transition, at: new Date(atMs) }]
    })
    if (steps.length === 0) return
    await storeSteps(tx, steps, publicUrl, now)
  }
}

function isStillCurrent(change: VerdictChange, monitor: MonitorVersion | undefined): boolean {
  return (
    monitor !== undefined &&
    monitor.deletedAt === null &&
    !monitor.isPaused &&
    monitor.configVersion <= change.configVersion
  )
}

async function storeSteps(tx: Tx, steps: TransitionStep[], publicUrl: string, now: Date): Promise<void> {
  await storeStatuses(
    tx,
    steps.map(({ monitor, transition, at }) => ({ id: monitor.id, status: transition.to, at })),
  )
  await insertTransitions(tx, steps.map(toTransitionRow), now)
  const news = steps.filter(({ transition }) => transition.from !== transition.to)
  const moved = await updateIncidents(tx, news, publicUrl, now)
  await publishEvents(tx, await suppressEvents(tx, buildStatusChanges(news, moved, publicUrl), now), now)
  // a monitor that is seen to be down again, as it was, silences its dependents again
  const returned = steps.filter(({ transition: { from, to } }) => from === to && to === 'down')
  await scheduleReview(
    tx,
    returned.map(({ monitor }) => monitor.id),
    now,
  )
}

function toTransitionRow({ id, monitor, shown, transition, at }: TransitionStep) {
  return {
    id,
    project_id: monitor.projectId,
    monitor_id: monitor.id,
    from_status: shown,
    to_status: transition.to,
    at,
    quorum: transition.quorum,
    summary: formatExplanation(transition.explanation),
    explanation: transition.explanation,
  }
}

/** Going down opens an incident, the end of the outage resolves it (decisions 5.1). */
async function updateIncidents(
  tx: Tx,
  steps: TransitionStep[],
  publicUrl: string,
  now: Date,
): Promise<AffectedIncidents> {
  const outages: MonitorOutage[] = []
  const recoveries: Resolution[] = []
  const others: string[] = []
  for (const { monitor, transition, at } of steps) {
    const { downSinceMs, downDurationMs } = transition
    if (transition.to === 'down') {
      outages.push({ projectId: monitor.projectId, monitorId: monitor.id, monitorName: monitor.name, startedAt: at })
    } else if (downDurationMs !== null) {
      const message = formatRecoveryMessage(monitor.name, formatDuration(downDurationMs))
      recoveries.push({ monitorId: monitor.id, at, message })
    } else if (downSinceMs !== null) others.push(monitor.id)
  }
  const opened = await openAutomaticIncidents(tx, outages, publicUrl, now)
  const resolved = await resolveAutomaticIncidents(tx, recoveries, publicUrl, now)
  const ongoing = await listOpenAutomaticIncidents(tx, others)
  return {
    incidents: [...opened.incidents, ...resolved.incidents, ...ongoing],
    events: [...opened.events, ...resolved.events],
  }
}

function buildStatusChanges(
  steps: TransitionStep[],
  { incidents, events }: AffectedIncidents,
  publicUrl: string,
): StatusChange[] {
  const incidentOf = new Map(incidents.map(incident => [incident.monitor_id, incident]))
  // in one round an incident is opened or resolved, not both
  const eventOf = new Map(events.map(event => [event.subject, event]))
  return steps.map(({ id, monitor, transition }) => {
    const incident = incidentOf.get(monitor.id) ?? null
    const own = buildMonitorEvent(newId(), monitor, transition, incident, publicUrl) ?? []
    const ofIncident = (incident && eventOf.get(toIncidentSubject(incident.id))) ?? []
    const { from, to } = transition
    const transitionStep = { from, to, wasInOutage: wasInOutage(transition), transitionId: id }
    return { monitor, transition: transitionStep, events: [own, ofIncident].flat() }
  })
}

/** True for what the rows or the state of one monitor brought about, so that its neighbours can be judged without it. */
export const isMonitorError = (error: unknown): boolean =>
  isInvalidRowError(error) || error instanceof TypeError || error instanceof RangeError
