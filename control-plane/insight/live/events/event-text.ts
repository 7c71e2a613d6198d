/** One event of the stream. `data` is JSON on one line. `id`: the position of the client after it. */
export type StreamEvent = { event: string; data: string; id?: string }

/** The event as Server-Sent Events write it. */
export function formatEvent({ event, data, id }: StreamEvent): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`
}

/** A comment that keeps the connection open. The id moves the client's position without an event. */
export const formatHeartbeat = (id: string): string => `: heartbeat\nid: ${id}\n\n`

/** The first line: how long a client waits before it connects again. */
export const formatRetry = (ms: number): string => `retry: ${ms}\n\n`
