import { type EventName, type MonitorEventData, monitorOfSubject } from './catalog.ts'

/** How the log names many changes that were told in one message. No webhook carries it: it is none of the catalogue's. */
export const DIGEST = 'monitor.digest'

/** The events that digests are made of. */
export const CHANGES: EventName[] = ['monitor.down', 'monitor.up', 'monitor.degraded']

/** True for a change of a monitor; a warning or a test of a channel is none. */
export const isChange = (event: { eventName: string; subject: string }): boolean =>
  monitorOfSubject(event.subject) !== null && CHANGES.some(name => name === event.eventName)

/** Digests of one channel keep their order. */
export const subjectOfDigest = (projectId: string): string => `digest:${projectId}`

/** A change as its event has it. `reminder`: null for news. */
export type ToldChange = { occurredAt: Date; data: MonitorEventData; reminder: number | null }

/** In the order in which the changes came about. Times are ISO 8601 UTC. */
export type DigestData = {
  project_name: string
  changes: { name: string; status: string; at: string; url: string; reminder: number | null }[]
}

export type DigestRow = {
  id: string
  projectId: string
  name: typeof DIGEST
  subject: string
  data: DigestData
  occurredAt: Date
}

export function digestEvent(
  id: string,
  projectId: string,
  { projectName, changes }: { projectName: string; changes: ToldChange[] },
  now: Date,
): DigestRow {
  const told = changes.map(({ occurredAt, data, reminder }) => ({
    name: data.monitor.name,
    status: data.monitor.status ?? 'unknown',
    at: occurredAt.toISOString(),
    url: data.dashboard_url,
    reminder,
  }))
  const data = { project_name: projectName, changes: told }
  return { id, projectId, name: DIGEST, subject: subjectOfDigest(projectId), data, occurredAt: now }
}
