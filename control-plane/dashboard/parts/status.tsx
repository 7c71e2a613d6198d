import type { OperationResponse } from '../core/operations.ts'

type Monitor = OperationResponse<'readMonitor'>['data']
type Check = OperationResponse<'listMonitorChecks'>['data'][number]
export type ShownStatus = 'up' | 'degraded' | 'down' | 'paused' | 'unknown'

/** What a row says about a monitor. Unknown: no verdict yet, or no longer. */
export function getShownStatus({ status, is_paused }: Pick<Monitor, 'status' | 'is_paused'>): ShownStatus {
  if (is_paused) return 'paused'
  return status ?? 'unknown'
}

/** A check without a result of its own is neither up nor down. */
export const toShownStatus = (status: Check['status']): ShownStatus => (status === 'missed' ? 'unknown' : status)

/** Trouble first. */
export const STATUS_ORDER: readonly ShownStatus[] = ['down', 'degraded', 'unknown', 'up', 'paused']

export const NAMES: Record<ShownStatus, string> = {
  up: 'Up',
  degraded: 'Degraded',
  down: 'Down',
  paused: 'Paused',
  unknown: 'Unknown',
}

/** The status as a shape and a word, readable without colour. */
export const Status = ({ status }: { status: ShownStatus }) => (
  <span class={`state ${status}`}>
    <Shape status={status} />
    {NAMES[status]}
  </span>
)

/** The shape of a status alone. A word next to it says what it means. */
export const Shape = ({ status }: { status: ShownStatus }) => (
  <svg viewBox="0 0 12 12" aria-hidden="true" fill="currentColor">
    {status === 'up' && <circle cx="6" cy="6" r="3.5" />}
    {status === 'down' && <path d="M1 1h10v10H1z" />}
    {status === 'degraded' && <path d="M6 .5 11.5 11H.5z" />}
    {status === 'paused' && <path d="M2.5 1.5h2.5v9H2.5zM7 1.5h2.5v9H7z" />}
    {status === 'unknown' && <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" stroke-dasharray="2 1.5" />}
  </svg>
)
