import { announce } from '../alerts/announce-actions.ts'
import { openIncidentsOf } from '../incidents/automatic-actions.ts'
import { isChecked } from '../monitors/configuration.ts'
import { lockFreeMonitors, monitorsOfIds } from '../monitors/store.ts'
import type { StoredMonitor } from '../monitors/types.ts'
import { newId } from '../platform/ids.ts'
import type { Tx } from '../platform/postgres.ts'
import { silencedMonitors } from '../silences/store.ts'
import { storeSights } from './sight-actions.ts'
import { notifiedUnchecked, storeStates } from './store.ts'
import type { MonitorState } from './types.ts'
import { uncheckedEvent, uncheckedReason } from './unchecked.ts'

/** A monitor of which no check counts, with the state that says so, and the configuration that it was found by. */
export type Unchecked = { monitorId: string; configVersion: number; state: MonitorState }

/**
 * Stores that monitors are not checked any more (decision 196): no status from the last check on, and the event for their owners.
 * Of those that are silenced the owner is notified later, if they are still unchecked then. Monitors that are locked,
 * changed, paused or deleted are left out. Answers the states that are stored, also those of an earlier transaction
 * whose commit was not answered: nothing follows from them a second time.
 */
export async function storeUnchecked(
  tx: Tx,
  found: Unchecked[],
  publicUrl: string,
  now: Date,
): Promise<MonitorState[]> {
  const same = await unchanged(tx, found)
  const monitors = await checkedMonitors(tx, same)
  const stored = await notifiedUnchecked(tx, [...monitors.keys()])
  const silenced = await silencedMonitors(tx, [...monitors.keys()], now)
  const states = same
    .filter(({ monitorId }) => monitors.has(monitorId) && !stored.has(monitorId))
    .map(({ state }) => ({ ...state, unchecked: { ...state.unchecked!, isTold: !silenced.has(state.monitorId) } }))
    .filter(({ monitorId, unchecked }) => unchecked.isTold || monitors.get(monitorId)!.status !== null)
  await storeStates(tx, states, now)
  await storeSights(tx, sightsOf(states, monitors), now)
  const toNotify = states.filter(({ unchecked }) => unchecked.isTold)
  await notifyOwners(tx, toNotify, monitors, publicUrl, now)
  const known = same.flatMap(({ monitorId, state }) => {
    const unchecked = stored.get(monitorId)
    return unchecked ? [{ ...state, unchecked }] : []
  })
  return [...states, ...known]
}

type Monitors = ReadonlyMap<string, StoredMonitor>
type UncheckedState = MonitorState & { unchecked: NonNullable<MonitorState['unchecked']> }

/** Those whose rows are not locked, and configured as they were. */
async function unchanged(tx: Tx, found: Unchecked[]): Promise<Unchecked[]> {
  const ids = found.map(({ monitorId }) => monitorId)
  const locked = await lockFreeMonitors(tx, ids)
  const versions = new Map(locked.map(({ id, configVersion }) => [id, configVersion]))
  return found.filter(({ monitorId, configVersion }) => versions.get(monitorId) === configVersion)
}

async function checkedMonitors(tx: Tx, found: Unchecked[]): Promise<Monitors> {
  const ids = found.map(({ monitorId }) => monitorId)
  const monitors = await monitorsOfIds(tx, ids)
  return new Map(monitors.filter(isChecked).map(monitor => [monitor.id, monitor]))
}

/** Of monitors that showed a status until now. */
const sightsOf = (states: UncheckedState[], monitors: Monitors) =>
  states.flatMap(({ monitorId, unchecked: { sinceMs } }) => {
    const monitor = monitors.get(monitorId)!
    if (monitor.status === null) return []
    const summary = `Not checked: ${uncheckedReason(sinceMs)}.`
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
  const incidents = await openIncidentsOf(tx, ids)
  const events = states.map(({ monitorId, unchecked }) => {
    const incident = incidents.find(one => one.monitor_id === monitorId) ?? null
    return uncheckedEvent(newId(), monitors.get(monitorId)!, unchecked.sinceMs, incident, publicUrl, now)
  })
  await announce(tx, events, now)
}
