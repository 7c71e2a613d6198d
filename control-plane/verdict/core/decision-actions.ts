import { toIncidentSubject } from '../../alerting/events/catalog.ts'
import { formatDuration } from '../../alerting/events/duration.ts'
import { publishEvents } from '../../alerting/routing/publishing/publish-actions.ts'
import { newId } from '../../foundation/platform/ids.ts'
import type { Tx } from '../../foundation/platform/postgres/client.ts'
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
import { wasInOutage } from './rules/transition.ts'
import { insertTransitions, storeStates, storeStatuses } from './store.ts'
import type { MonitorState, StatusTransition, VerdictStatus } from './types.ts'

/** What has to be stored for one monitor: its final state, and its transitions in order. */
export type VerdictChange = {
  monitorId: string
  /** config version of the policy that decided */
  configVersion: number
  state: MonitorState
  transitions: StatusTransition[]
}

/** The monitors whose changes were discarded, because they were paused, deleted or changed in the meantime. */
type ApplyResult = { discarded: string[] }

/**
 * `at`: the time of the transition, but never before the last change of the monitor, which another clock may have
 * given. `shown`: the status before; null while the status was unknown, whatever the stored state remembers.
 */
type TransitionStep = {
  id: string
  monitor: StoredMonitor
  shown: VerdictStatus
  transition: StatusTransition
  at: Date
}

/**
 * Stores decisions and everything that follows from them, set-based, in the caller's transaction
 * (docs/design/results.md#commit):
 *
 * 1. Lock the monitors in the order of their ids.
 * 2. Discard decisions about monitors that were paused, deleted or changed in the meantime.
 * 3. Store the states.
 * 4. Store the status and the transition of each monitor whose status changed. A monitor that changed twice is handled
 *    in two rounds, each with all steps from here on.
 * 5. Open an incident for each monitor that went down; resolve those of monitors that came up.
 * 6. Withhold the events that must not be sent now (maintenance, parents).
 * 7. Publish the other events with their deliveries.
 * 8. Schedule a review of the monitors that depend on one that is down again after its status was unknown.
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

/** Steps 2 to 8 of `applyDecisions` for monitors that the caller has `locked`; changes of others are discarded. */
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

/** Stores the transitions of locked monitors, one round for each transition of a monitor. */
async function storeTransitions(tx: Tx, changes: VerdictChange[], publicUrl: string, now: Date): Promise<void> {
  const monitors = await listMonitorsByIds(
    tx,
    changes.map(({ monitorId }) => monitorId),
  )
  const byId = new Map(monitors.map(monitor => [monitor.id, monitor]))
  // a monitor may have changed twice in one batch; each round handles the next transition of each monitor
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
  const changed = steps.filter(({ transition }) => transition.from !== transition.to)
  const moved = await updateIncidents(tx, changed, publicUrl, now)
  await publishEvents(tx, await suppressEvents(tx, buildStatusChanges(changed, moved, publicUrl), now), now)
  // a monitor that is down again after an unknown status suppresses its dependents again
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

/** Opens an incident for each monitor that went down, and resolves it at the end of the outage. */
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
  const incidentsByMonitor = new Map(incidents.map(incident => [incident.monitor_id, incident]))
  // in one round an incident is opened or resolved, not both
  const eventsBySubject = new Map(events.map(event => [event.subject, event]))
  return steps.map(({ id, monitor, transition }) => {
    const incident = incidentsByMonitor.get(monitor.id) ?? null
    const own = buildMonitorEvent(newId(), monitor, transition, incident, publicUrl) ?? []
    const ofIncident = (incident && eventsBySubject.get(toIncidentSubject(incident.id))) ?? []
    const { from, to } = transition
    const transitionStep = { from, to, wasInOutage: wasInOutage(transition), transitionId: id }
    return { monitor, transition: transitionStep, events: [own, ofIncident].flat() }
  })
}
