/** A silence to store. The ids are sorted. */
export type NewSilence = {
  id: string
  projectId: string
  reason: string | null
  endsAt: Date
  createdAt: Date
  monitorIds: string[]
}

/** A row of `alert_silences` with its monitors that are not deleted, in the order of ids. */
export type MonitorSilence = NewSilence & { monitorNames: string[] }
