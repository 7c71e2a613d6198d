import { publishEvents } from '../../../alerting/routing/publishing/publish-actions.ts'
import { newId } from '../../../foundation/platform/ids.ts'
import type { Tx } from '../../../foundation/platform/postgres/client.ts'
import { isCheckedByProbes } from '../../../monitoring/monitors/settings/configuration-issues.ts'
import { listMonitorsByIds, lockAvailableMonitors } from '../../../monitoring/monitors/store.ts'
import type { StoredMonitor } from '../../../monitoring/monitors/types.ts'
import { listOpenAutomaticIncidents } from '../../incidents/automatic-actions.ts'
import { listSilencedMonitors } from '../../suppression/store.ts'
import { loadStoredUnchecked, storeStates } from '../store.ts'
import type { MonitorState } from '../types.ts'
import { buildUncheckedEvent, formatUncheckedReason, UNCHECKED_SUMMARY } from './unchecked.ts'
import { storeUnknownTransitions } from './unknown-status-actions.ts'

/** A monitor for which no check counts: its new state, and the config version with which it was found. */
export type UncheckedMonitor = { monitorId: string; configVersion: number; state: MonitorState }

/**
 * Stores that monitors are no longer checked (docs/design/verdict.md#unknown-status): a status of null from the last
 * check on, and `monitor.unchecked`. The owner of a silenced monitor is notified later, if it is still unchecked then.
 * Monitors that are locked, changed, paused or deleted are left out. Returns the stored states, including those that
 * an earlier transaction stored, perhaps without an answer to its commit; these are not published a second time.
 */
export async function storeUncheckedMonitors(
  tx: Tx,
  found: UncheckedMonitor[],
  publicUrl: string,
  now: Date,
): Promise<MonitorState[]> {
  const same = await lockUnchanged(tx, found)
  const monitors = await loadCheckedMonitors(tx, same)
  const stored = await loadStoredUnchecked(tx, [...monitors.keys()])
  const silenced = await listSilencedMonitors(tx, [...monitors.keys()], now)
  const isStored = (id: string) => stored.get(id)?.isTold || (stored.has(id) && silenced.has(id))
  const states = same
    .filter(({ monitorId }) => monitors.has(monitorId) && !isStored(monitorId))
    .map(({ state }) => ({ ...state, unchecked: { ...state.unchecked!, isTold: !silenced.has(state.monitorId) } }))
    .filter(({ monitorId, unchecked }) => unchecked.isTold || monitors.get(monitorId)!.status !== null)
  await storeStates(tx, states, now)
  await storeUnknownTransitions(tx, buildUnknownTransitions(states, monitors), now)
  const toNotify = states.filter(({ unchecked }) => unchecked.isTold)
  await notifyOwners(tx, toNotify, monitors, publicUrl, now)
  const known = same.filter(({ monitorId }) => isStored(monitorId))
  return [...states, ...known.map(({ monitorId, state }) => ({ ...state, unchecked: stored.get(monitorId)! }))]
}

type Monitors = ReadonlyMap<string, StoredMonitor>
type UncheckedState = MonitorState & { unchecked: NonNullable<MonitorState['unchecked']> }

/** Locks the monitors whose rows are free and whose configuration has not changed. */
async function lockUnchanged(tx: Tx, found: UncheckedMonitor[]): Promise<UncheckedMonitor[]> {
  const ids = found.map(({ monitorId }) => monitorId)
  const locked = await lockAvailableMonitors(tx, ids)
  const versions = new Map(locked.map(({ id, configVersion }) => [id, configVersion]))
  return found.filter(({ monitorId, configVersion }) => versions.get(monitorId) === configVersion)
}

async function loadCheckedMonitors(tx: Tx, found: UncheckedMonitor[]): Promise<Monitors> {
  const ids = found.map(({ monitorId }) => monitorId)
  const monitors = await listMonitorsByIds(tx, ids)
  return new Map(monitors.filter(isCheckedByProbes).map(monitor => [monitor.id, monitor]))
}

/** The transitions of monitors that showed a status until now. */
const buildUnknownTransitions = (states: UncheckedState[], monitors: Monitors) =>
  states.flatMap(({ monitorId, unchecked: { sinceMs } }) => {
    const monitor = monitors.get(monitorId)!
    if (monitor.status === null) return []
    const summary = `${UNCHECKED_SUMMARY} ${formatUncheckedReason(sinceMs)}.`
    return [{ monitor, status: null, at: new Date(sinceMs), summary, explanation: {} }]
  })

async function notifyOwners(
  tx: Tx,
  states: UncheckedState[],
  monitors: Monitors,
  publicUrl: string,
  now: Date,
): Promise<void> {
  const ids = states.map(({ monitorId }) => monitorId)
  const incidents = await listOpenAutomaticIncidents(tx, ids)
  const events = states.map(({ monitorId, unchecked }) => {
    const incident = incidents.find(one => one.monitor_id === monitorId) ?? null
    return buildUncheckedEvent(newId(), monitors.get(monitorId)!, unchecked.sinceMs, incident, publicUrl, now)
  })
  await publishEvents(tx, events, now)
}
