import type { MaintenanceSchedule } from './schedule.ts'

/** A row of `maintenance_windows` with its monitors that are not deleted, in the order of ids. */
export type MaintenanceWindow = MaintenanceSchedule & {
  id: string
  projectId: string
  title: string
  description: string | null
  monitorIds: string[]
  createdAt: Date
  updatedAt: Date
}
