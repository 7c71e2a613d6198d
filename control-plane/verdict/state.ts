import type { Cell, MonitorState } from './types.ts'

/** A monitor of which nothing is known: new, or just resumed (decisions 4.8: status null). */
export function newMonitorState(monitorId: string, configVersion: number): MonitorState {
  return {
    monitorId,
    configVersion,
    status: null,
    statusSinceMs: null,
    outageSinceMs: null,
    noMajoritySinceMs: null,
    quorumLostSinceMs: null,
    askedAtMs: null,
    restoredAtMs: null,
    cells: [],
  }
}

/**
 * A stored state taken up again at a restart or take-over: its votes count as just seen (decisions 4.4).
 * `nowMs` is the JetStream time at which reading goes on, that of the stored position.
 */
export function restore(stored: MonitorState, nowMs: number): MonitorState {
  return { ...stored, restoredAtMs: nowMs }
}

/** Nothing grows here: when only fence, vote time and last result moved, the row need not be written again. */
export function isSteadyCell(cell: Cell): boolean {
  return (
    cell.state === 'ok' && cell.failures === 0 && cell.notUp === 0 && cell.better === 0 && cell.secondOpinion === null
  )
}

/** Up, every known region steady, nothing being waited for. */
export function isSteady(state: MonitorState): boolean {
  return state.status === 'up' && state.quorumLostSinceMs === null && state.cells.every(isSteadyCell)
}
