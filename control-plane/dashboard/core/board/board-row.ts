import type { ShownStatus } from '../../parts/status.tsx'
import type { Bar } from '../../parts/strip.tsx'

/** A monitor in a list. */
export type BoardRow = {
  id: string
  name: string
  type: string
  status: ShownStatus
  /** the time of the last change, in ms; null without one */
  sinceMs: number | null
  tags: string[]
  /** the vote of each region */
  bars: Bar[]
  /** why it is down or degraded, in short */
  cause: string | null
  /** why its settings do not allow a check */
  issue: string | null
  /** ids of the monitors that it depends on */
  parents: string[]
  /** the end of its last silence, which may be over; null without one */
  silencedUntilMs: number | null
}

/** How many monitors have each status. */
export type BoardCounts = Record<ShownStatus, number>

/**
 * Which monitors, as a query of board-query.ts, and how many of them at most. `groups`: by tag; `open`: the groups whose rows
 * are shown, null: those with trouble. `parents`: with the outages of parents. `keepsOrder`: rows stay where they are shown,
 * until the person asks for the current order.
 */
export type BoardRequest = {
  text: string
  limit: number
  groups?: { open: readonly string[] | null }
  parents?: boolean
  keepsOrder?: boolean
}
