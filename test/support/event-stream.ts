import { request } from 'node:http'
import type { Teardown } from './teardown.ts'
import { recordLine } from './test-record.ts'
import { waitFor } from './wait.ts'

// biome-ignore lint/suspicious/noExplicitAny: data of every event
type ReceivedEvent = { event: string; data: any; atMs: number }

export type EventReader = {
  status: number
  /** the part of the body that is not an event */
  text: string
  /** without heartbeats */
  events: ReceivedEvent[]
  heartbeats: number
  /** the id of the last event, as a browser keeps it */
  lastId: string
  /** how the connection ended; null while it is open */
  ended: 'complete' | 'broken' | null
  /** resolves to the first event of this name for which `matches` holds */
  until(event: string, matches?: (event: ReceivedEvent) => unknown): Promise<ReceivedEvent>
  untilEnd(): Promise<'complete' | 'broken'>
  close(): void
}

type Options = { key: string | null; headers?: Record<string, string>; query?: string; isPaused?: boolean }

/** Opens `GET /events` and collects what arrives, until the end of the test. `isPaused`: nothing is read from the socket. */
export async function openEvents(t: Teardown, origin: string, options: Options): Promise<EventReader> {
  const { key, headers = {}, query = '', isPaused = false } = options
  const url = `${origin}/api/v1/events${query}`
  const reader: EventReader = {
    ...{ status: 0, text: '', events: [], heartbeats: 0, lastId: '', ended: null },
    until: (event, matches = () => true) =>
      waitFor(() => reader.events.find(one => one.event === event && matches(one)), { label: `an event ${event}` }),
    untilEnd: () => waitFor(() => reader.ended, { label: 'the end of the stream' }),
    close: () => call.destroy(),
  }
  const authorization = key === null ? {} : { authorization: `Bearer ${key}` }
  const call = request(url, { headers: { ...authorization, ...headers } })
  t.teardown(() => call.destroy())
  await new Promise<void>((resolve, reject) => {
    call.on('error', error => (reader.status === 0 ? reject(error) : undefined))
    call.on('response', response => {
      reader.status = response.statusCode!
      recordLine('GET', url, reader.status)
      response.on('close', () => {
        reader.ended = response.complete ? 'complete' : 'broken'
      })
      response.on('error', () => {})
      if (isPaused) response.pause()
      else response.setEncoding('utf8').on('data', (chunk: string) => collect(reader, chunk))
      resolve()
    })
    call.end()
  })
  return reader
}

/** Reads complete blocks of Server-Sent Events; the rest stays in `text`. */
function collect(reader: EventReader, chunk: string): void {
  const blocks = (reader.text + chunk).split('\n\n')
  reader.text = blocks.pop()!
  for (const block of blocks) {
    const fields = new Map(
      block.split('\n').map(line => [line.slice(0, line.indexOf(':')), line.split(/: ?/)[1] ?? '']),
    )
    const id = fields.get('id')
    const data = block.split('\n').find(line => line.startsWith('data: '))
    if (fields.get('event') === 'heartbeat') reader.heartbeats++
    else if (data)
      reader.events.push({ event: fields.get('event')!, data: JSON.parse(data.slice(6)), atMs: performance.now() })
    if (id !== undefined) reader.lastId = id
  }
}
