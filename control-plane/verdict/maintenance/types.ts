import type { MaintenanceSchedule } from './schedule.ts'

/** A row of `maintenance_windows` with its monitors that are not deleted, in the order of ids. */
export type MaintenanceWindow = MaintenanceSchedule & {
  id: string
  projectId: string
  title: string
  description: string | null
  monitorIds: string[]
  /** whether notices are sent to subscribers of status pages */
  notifySubscribers: boolean
  /** how long before a period it is announced; 0: it is not announced */
  announceMinutes: number
  createdAt: Date
  updatedAt: Date
}
