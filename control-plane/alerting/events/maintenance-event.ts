/** The stages of a period of maintenance that subscribers of status pages are sent. */
export type MaintenanceStage = 'announced' | 'begun' | 'ended' | 'cancelled'

/** Not in the catalogue: alert channels never receive these events. */
export type MaintenanceEventName = `maintenance.${MaintenanceStage}`

/** One period of a window. `id`: of the window. Times are ISO 8601 UTC. */
export type MaintenanceEventData = {
  maintenance: { id: string; title: string; description: string | null; starts_at: string; ends_at: string }
  monitor_ids: string[]
}

export type MaintenanceEventRow = {
  id: string
  projectId: string
  name: MaintenanceEventName
  subject: string
  data: MaintenanceEventData
  occurredAt: Date
}
