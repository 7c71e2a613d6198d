import { toErrorBody } from './errors.ts'
import type {
  BoardEvent,
  ChangedRecords,
  HeartbeatEvent,
  ReadyEvent,
  ResetEvent,
  ServerEvent,
} from './gen/types.gen.ts'

/** The server sends a heartbeat every 10 to 15 s. */
const SILENCE_MS = 25_000
/** Before the server has sent another value. */
const RETRY_MS = 2_000
const MAX_RETRY_MS = 30_000
const DAY_MS = 86_400_000

type DataByEvent = {
  server: ServerEvent
  ready: ReadyEvent
  reset: ResetEvent
  board: BoardEvent
  incident: ChangedRecords
  delivery: ChangedRecords
  channel: ChangedRecords
  maintenance: ChangedRecords
  heartbeat: HeartbeatEvent
}

/** `id`: the position after the event, for `since`; undefined before the first position. */
export type FollowedEvent = {
  [Name in keyof DataByEvent]: { event: Name; id: string | undefined; data: DataByEvent[Name] }
}[keyof DataByEvent]

export type FollowOptions = {
  /** the origin of the Picket server, without `/api/v1`: `https://picket.example.com` */
  origin: string
  /** `svc_…`, with scope read */
  apiKey: string
  /** the `revision` of a board or the `id` of an event; default: now */
  since?: string | undefined
  /** ends the iteration without an error */
  signal?: AbortSignal | undefined
  /** used instead of the global `fetch` */
  fetch?: typeof fetch | undefined
  /** connects again when nothing arrives for this time; default: 25,000 */
  silenceMs?: number | undefined
}

/** What continues over connections. */
type Position = { id: string | undefined; retryMs: number; failures: number }
type Connection = { request: Request; abort: AbortController; silenceMs: number; send: typeof fetch }

/**
 * Yields the events of `GET /events`, heartbeats included, and connects again when a connection ends, fails or is silent. It
 * continues after the last event, so that none is missing; after `reset`, read everything again. Throws an error with the
 * fields of an error response as `error` when the server refuses the request: any status of 400 to 499 but 429.
 */
export async function* followEvents(options: FollowOptions): AsyncGenerator<FollowedEvent, void> {
  const { origin, since, signal, silenceMs = SILENCE_MS } = options
  const position: Position = { id: undefined, retryMs: RETRY_MS, failures: 0 }
  const url = `${origin.replace(/\/+$/, '')}/api/v1/events${since ? `?${new URLSearchParams({ since })}` : ''}`
  while (!signal?.aborted) {
    const abort = new AbortController()
    const headers = { authorization: `Bearer ${options.apiKey}`, ...(position.id && { 'last-event-id': position.id }) }
    // invalid options throw here, and are not repeated
    const request = new Request(url, { headers, signal: abort.signal, cache: 'no-store' })
    const connection = { request, abort, silenceMs, send: options.fetch ?? fetch }
    const onAbort = () => abort.abort()
    signal?.addEventListener('abort', onAbort)
    let waitMs: number | null = null
    try {
      const response = await openStream(connection)
      if (response.body === null) waitMs = parseRetryAfter(response)
      else yield* readEvents(response.body, connection, position)
    } catch (error) {
      if (error instanceof RefusedStream) throw error
    } finally {
      signal?.removeEventListener('abort', onAbort)
      abort.abort()
    }
    await sleep(waitMs ?? chooseDelay(position), signal)
    position.failures++
  }
}

/** An answer that a repeated request would get as well. */
class RefusedStream extends Error {
  override name = 'RefusedStream'
  constructor(readonly error: ReturnType<typeof toErrorBody>['error']) {
    super(error.message)
  }
}

/** The response with its body; without one when the request can be repeated. Throws RefusedStream. */
async function openStream({ request, abort, silenceMs, send }: Connection): Promise<Response> {
  const response = await abortAfter(silenceMs, abort, () => send(request))
  const { status, headers } = response
  if (status === 200 && headers.get('content-type')?.startsWith('text/event-stream')) return response
  if (status === 429 || status >= 500) return new Response(null, { status, headers })
  const text = await abortAfter(silenceMs, abort, () => response.text())
  throw new RefusedStream(toErrorBody(parseJson(text), response, request.url).error)
}

async function* readEvents(body: ReadableStream<Uint8Array>, { abort, silenceMs }: Connection, position: Position) {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (true) {
    const { done, value } = await abortAfter(silenceMs, abort, () => reader.read())
    if (done) return
    text += decoder.decode(value, { stream: true })
    const blocks = text.split(/\r?\n\r?\n/)
    text = blocks.pop() ?? ''
    for (const block of blocks) {
      const event = parseBlock(block, position)
      if (event === null) continue
      position.failures = 0
      yield event
    }
  }
}

/** The event of a block; null for a block that only has other fields. Notes the position and the delay of the server. */
function parseBlock(block: string, position: Position): FollowedEvent | null {
  const lines = [...block.matchAll(/^(\w+): ?(.*?)\r?$/gm)]
  const fields = new Map(lines.map(([, name = '', value = '']) => [name, value]))
  const [event, data, id, retry] = ['event', 'data', 'id', 'retry'].map(name => fields.get(name))
  if (retry !== undefined && /^\d+$/.test(retry)) position.retryMs = Number(retry)
  const isEvent = event !== undefined && data !== undefined
  // before the position, so that an event that was damaged on the way is sent again
  const value: unknown = isEvent ? JSON.parse(data) : null
  if (id !== undefined) position.id = id
  return isEvent ? ({ event, id: position.id, data: value } as FollowedEvent) : null
}

/** Aborts the connection when the operation takes longer. The time in which the caller handles an event does not count. */
async function abortAfter<T>(ms: number, abort: AbortController, operation: () => Promise<T>): Promise<T> {
  const timer = setTimeout(() => abort.abort(), ms)
  try {
    return await operation()
  } finally {
    clearTimeout(timer)
  }
}

/** The delays differ by chance, so that the clients of a server that restarts do not all connect at one time. */
function chooseDelay({ retryMs, failures }: Position): number {
  return Math.min(retryMs * 2 ** Math.max(0, failures), MAX_RETRY_MS) * (0.5 + Math.random() / 2)
}

/** The delay that the server asks for, up to a day; null: none. */
function parseRetryAfter({ headers }: Response): number | null {
  const value = headers.get('retry-after')
  if (value === null) return null
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? null : Math.min(Math.max(0, ms), DAY_MS)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Ends early when the signal is aborted. */
function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end)
  })
}
