import { announce } from '../alerts/announce-actions.ts'
import { openIncidentsOf } from '../incidents/automatic-actions.ts'
import { isChecked } from '../monitors/configuration.ts'
import { lockFreeMonitors, monitorsOfIds } from '../monitors/store.ts'
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
  const versions = await lockFreeMonitors(
    tx,
    found.map(({ monitorId }) => monitorId),
  )
  const versionOf = new Map(versions.map(({ id, configVersion }) => [id, configVersion]))
  const same = found.filter(({ monitorId, configVersion }) => versionOf.get(monitorId) === configVersion)
  const monitors = new Map(
    (
      await monitorsOfIds(
        tx,
        same.map(({ monitorId }) => monitorId),
      )
    )
      .filter(isChecked)
      .map(monitor => [monitor.id, monitor]),
  )
  const stored = await notifiedUnchecked(tx, [...monitors.keys()])
  const valid = same.filter(({ monitorId }) => monitors.has(monitorId) && !stored.has(monitorId))
  const silenced = await silencedMonitors(tx, [...monitors.keys()], now)
  const states = valid
    .map(({ state }) => ({ ...state, unchecked: { ...state.unchecked!, isTold: !silenced.has(state.monitorId) } }))
    .filter(({ monitorId, unchecked }) => unchecked.isTold || monitors.get(monitorId)!.status !== null)
  await storeStates(tx, states, now)
  const withStatus = states.filter(({ monitorId }) => monitors.get(monitorId)!.status !== null)
  const sights = withStatus.map(({ monitorId, unchecked }) => ({
    monitor: monitors.get(monitorId)!,
    status: null,
    at: new Date(unchecked.sinceMs),
    summary: `Not checked: ${uncheckedReason(unchecked.sinceMs)}.`,
    explanation: {},
  }))
  await storeSights(tx, sights, now)
  const notified = states.filter(({ unchecked }) => unchecked.isTold)
  const incidents = await openIncidentsOf(
    tx,
    notified.map(({ monitorId }) => monitorId),
  )
  const events = notified.map(({ monitorId, unchecked }) => {
    const incident = incidents.find(one => one.monitor_id === monitorId) ?? null
    return uncheckedEvent(newId(), monitors.get(monitorId)!, unchecked.sinceMs, incident, publicUrl, now)
  })
  await announce(tx, events, now)
  const known = same.flatMap(({ monitorId, state }) => {
    const unchecked = stored.get(monitorId)
    return unchecked ? [{ ...state, unchecked }] : []
  })
  return [...states, ...known]
}
