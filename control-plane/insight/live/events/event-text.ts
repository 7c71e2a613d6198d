/** One event of the stream. `data` is JSON on one line. `id`: the position of the client after it. */
export type StreamEvent = { event: string; data: string; id?: string }

/** The event as Server-Sent Events write it. */
export function formatEvent({ event, data, id }: StreamEvent): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`
}

/** An event that keeps the connection open and shows the client that it works. `id`: moves its position. */
export const formatHeartbeat = (id?: string): string => formatEvent({ event: 'heartbeat', data: '{}', id })

/** The first line: how long a client waits before it connects again. */
export const formatRetry = (ms: number): string => `retry: ${ms}\n\n`
