/** A row of `alert_silences` with its monitors that are not deleted, in the order of ids. */
export type MonitorSilence = {
  id: string
  projectId: string
  reason: string | null
  endsAt: Date
  createdAt: Date
  monitorIds: string[]
}
