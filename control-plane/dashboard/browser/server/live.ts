import type { QueryClient } from '@tanstack/query-core'
import type { OperationName, OperationResponse } from '../../core/operations.ts'
import { readChanged } from './queries.ts'

const RETRY_MS = 15_000

const KINDS = ['board', 'incident', 'delivery', 'channel', 'maintenance', 'reset'] as const
type LiveKind = (typeof KINDS)[number]

type Board = OperationResponse<'readMonitorBoard'>['data']

/** A change on the server. `ids` null: any record of the kind may have changed. */
export type LiveChange = { kind: LiveKind; ids: string[] | null; board: Board | null }

/** Whether changes arrive, what identifies the server that sends them, or a sign that the stream works. */
type LiveState = { isLive: boolean } | { build: string } | { isHeartbeat: true }
/** What a new tab asks the others: whether the stream is open. */
const QUESTION = { isQuestion: true }

/**
 * Calls back for each change in the project (docs/design/live.md#event-stream). One tab of the browser has the stream and
 * passes on the events to the others, because browsers limit the connections to a server. `onState`: whether changes
 * arrive, and the program that sends them. `session`: the address of the session bridge for this page; tabs with the same
 * one share the stream. Returns the function that ends it.
 */
export function followChanges(
  session: string,
  onChange: (change: LiveChange) => void,
  onState: (state: LiveState) => void,
): () => void {
  const address = `${session}/api/v1/events`
  /** of the lock of the tab that has the stream, and of the channel on which it passes on the events */
  const sharedName = `picket-live ${session}`
  const end = new AbortController()
  // not available on an address without TLS; then every tab has a stream
  if (!navigator.locks) {
    openStream({ address, lastId: '', onChange, onState, signal: end.signal })
    return () => end.abort()
  }
  const channel = new BroadcastChannel(sharedName)
  /** of the stream of this tab; null: another tab has the stream */
  let ownState: LiveState | null = null
  channel.onmessage = ({ data }: MessageEvent<LiveChange | LiveState | typeof QUESTION>) => {
    if ('isQuestion' in data) {
      if (ownState !== null) channel.postMessage(ownState)
    } else if ('kind' in data) onChange(data)
    else onState(data)
  }
  channel.postMessage(QUESTION)
  navigator.locks
    .request(sharedName, { signal: end.signal }, () => {
      const pass = (change: LiveChange) => {
        channel.postMessage(change)
        onChange(change)
      }
      const passState = (state: LiveState) => {
        if ('isLive' in state) ownState = state
        channel.postMessage(state)
        onState(state)
      }
      // another tab had the stream: what it did not pass on any more is read again
      pass({ kind: 'reset', ids: null, board: null })
      openStream({ address, lastId: '', onChange: pass, onState: passState, signal: end.signal })
      return new Promise<void>(resolve => end.signal.addEventListener('abort', () => resolve()))
    })
    // ended before this tab had its turn
    .catch(() => {})
  return () => {
    end.abort()
    channel.close()
  }
}

/** `lastId`: of the last event before this stream, which continues there; empty: it begins now. */
type StreamOptions = {
  address: string
  lastId: string
  onChange: (change: LiveChange) => void
  onState: (state: LiveState) => void
  signal: AbortSignal
}

/** A stream that is silent for this time is dead: it has a heartbeat every 10 to 15 s. */
const SILENCE_MS = 22_000

/**
 * Opens the stream, and again after it was refused or fell silent: a connection can be lost without a word. The browser itself
 * continues one that is cut.
 */
function openStream(options: StreamOptions): void {
  const { address, onChange, onState, signal } = options
  if (signal.aborted) return
  let { lastId } = options
  const stream = new EventSource(lastId === '' ? address : `${address}?${new URLSearchParams({ since: lastId })}`)
  let lastMessageMs = Date.now()
  const on = (name: string, handle: (data: string) => void) =>
    stream.addEventListener(name, ({ data, lastEventId }: MessageEvent<string>) => {
      lastMessageMs = Date.now()
      lastId = lastEventId || lastId
      handle(data)
    })
  let watch: ReturnType<typeof setTimeout>
  const end = () => {
    clearTimeout(watch)
    stream.close()
  }
  const openAgain = (afterMs: number) => {
    end()
    setTimeout(() => openStream({ ...options, lastId }), afterMs)
  }
  const watchUntilSilent = () => {
    watch = setTimeout(
      () => {
        if (Date.now() - lastMessageMs < SILENCE_MS) return watchUntilSilent()
        onState({ isLive: false })
        openAgain(0)
      },
      lastMessageMs + SILENCE_MS - Date.now(),
    )
  }
  watchUntilSilent()
  signal.addEventListener('abort', end)
  on('server', data => onState(JSON.parse(data) as LiveState))
  on('heartbeat', () => onState({ isHeartbeat: true }))
  for (const kind of KINDS) on(kind, data => onChange(parseChange(kind, data)))
  // the stream begins with one of them; `reset` is a change too, which is passed on first
  for (const name of ['ready', 'reset']) on(name, () => onState({ isLive: true }))
  stream.onerror = () => {
    onState({ isLive: false })
    if (stream.readyState === EventSource.CLOSED) openAgain(RETRY_MS)
  }
}

function parseChange(kind: LiveKind, text: string): LiveChange {
  const data = JSON.parse(text) as { ids?: string[] | null; changes?: Board | null }
  const board = data.changes ?? null
  const ids = board ? [...board.monitors.id, ...board.removed] : (data.ids ?? null)
  return { kind, ids, board }
}

/** The operations whose answers depend on records of a kind. With an id among their arguments, only that record counts. */
const DEPENDENT: Record<Exclude<LiveKind, 'reset'>, readonly OperationName[]> = {
  board: [
    'readMonitor',
    'listMonitorVotes',
    'listSilences',
    'listMonitorTransitions',
    'listMonitorChecks',
    'listMonitors',
    'listAnalyticsStrips',
    'readAnalyticsUptime',
    'readAnalyticsSummary',
  ],
  incident: ['listIncidents', 'readIncident', 'listIncidentUpdates', 'readIncidentTimeline', 'readAnalyticsSummary'],
  delivery: ['listAlertLog', 'readAlertLog', 'readIncidentTimeline'],
  channel: ['listAlertChannels', 'readAlertChannel', 'listAlertRules', 'listMonitors'],
  maintenance: ['listMaintenanceWindows', 'readMaintenanceWindow', 'listMonitorVotes'],
}

/** Reads again what changes concern, of what the page shows, each read once. */
export function refreshAfter(cache: QueryClient, changes: readonly LiveChange[]): void {
  readChanged(cache, ([name, args]) =>
    changes.some(({ kind, ids }) => {
      if (kind === 'reset') return true
      const names: readonly string[] = DEPENDENT[kind]
      return names.includes(name as string) && concerns(kind, name as OperationName, args, ids)
    }),
  )
}

/**
 * Returns a function that collects changes, and passes them on together in the next task. An outage of many monitors is many
 * changes at once, and a page that is rendered after each of them does not react meanwhile.
 */
export function gatherChanges(onChanges: (changes: readonly LiveChange[]) => void): (change: LiveChange) => void {
  let gathered: LiveChange[] = []
  return change => {
    gathered.push(change)
    if (gathered.length > 1) return
    setTimeout(() => {
      const changes = gathered
      gathered = []
      onChanges(changes)
    })
  }
}

/** The operations whose `id` is that of a record of the kind. */
const NAMED_BY_ID: Partial<Record<LiveKind, readonly OperationName[]>> = {
  incident: ['readIncident', 'listIncidentUpdates', 'readIncidentTimeline'],
  delivery: ['readAlertLog'],
  channel: ['readAlertChannel'],
  maintenance: ['readMaintenanceWindow'],
}

/** Whether arguments name one of the records, or none of this kind: a delivery, for example, may concern any incident. */
function concerns(kind: LiveKind, name: OperationName, args: unknown, ids: readonly string[] | null): boolean {
  if (ids === null) return true
  const { path, query } = args as { path?: { id?: string }; query?: { monitor_id?: string; monitor_ids?: string } }
  const named =
    kind === 'board'
      ? (path?.id ?? query?.monitor_id ?? query?.monitor_ids)
      : NAMED_BY_ID[kind]?.includes(name)
        ? path?.id
        : undefined
  return named === undefined || ids.some(id => named.includes(id))
}
