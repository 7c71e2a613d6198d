/** The stages of a period of maintenance that subscribers of status pages are sent. `changed`: it has another time. */
export type MaintenanceStage = 'announced' | 'changed' | 'begun' | 'ended' | 'cancelled'

/** Not in the catalog: alert channels never receive these events. */
export type MaintenanceEventName = `maintenance.${MaintenanceStage}`

type PeriodTimes = { starts_at: string; ends_at: string }

/**
 * One period of a window. `id`: of the window. `period_id` stays the same when the period is moved; events of earlier versions
 * have none. `previous`: of a change, the time before it. Times are ISO 8601 UTC.
 */
export type MaintenanceEventData = {
  maintenance: PeriodTimes & { id: string; period_id?: string; title: string; description: string | null }
  previous?: PeriodTimes
  monitor_ids: string[]
}

export const buildPeriodId = (windowId: string, firstStartsAt: Date): string =>
  `${windowId}-${firstStartsAt.getTime() / 1_000}`

export const getPeriodId = ({ id, period_id, starts_at }: MaintenanceEventData['maintenance']): string =>
  period_id ?? buildPeriodId(id, new Date(starts_at))

export type MaintenanceEventRow = {
  id: string
  projectId: string
  name: MaintenanceEventName
  subject: string
  data: MaintenanceEventData
  occurredAt: Date
}
