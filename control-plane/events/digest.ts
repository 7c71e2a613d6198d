import { type EventName, monitorOfSubject } from './catalog.ts'

/**
 * How the log names many changes that were told in one message. It is none of the specification's events: no webhook
 * ever carries it.
 */
export const DIGEST = 'monitor.digest'

/** Digests of one channel keep their order. */
export const subjectOfDigest = (projectId: string): string => `digest:${projectId}`

/** What `digests` gathered, as the event keeps it: in the order in which it was told. Times are ISO 8601 UTC. */
export type DigestEventData = {
  project_name: string
  changes: { name: string; status: string; at: string; url: string; reminder: number | null }[]
}

const CHANGES: EventName[] = ['monitor.down', 'monitor.up', 'monitor.degraded']

/** True for the events that digests are made of: changes of a monitor, not warnings and not tests of a channel. */
export const isChange = (event: { eventName: string; subject: string }): boolean =>
  monitorOfSubject(event.subject) !== null && CHANGES.some(name => name === event.eventName)
