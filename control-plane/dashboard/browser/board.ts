import { useEffect, useMemo, useReducer, useRef } from 'preact/hooks'
import { type BoardSelection, selectRows, toBoardRows } from '../core/board/board.ts'
import { parseBoardQuery } from '../core/board/board-query.ts'
import type { BoardRequest, BoardRow } from '../core/board/board-row.ts'
import { selectInOrder } from '../core/board/kept-order.ts'
import { type SortedBoard, sortBoard } from '../core/board/sorted-board.ts'
import type { Execute, OperationError, OperationResponse } from '../core/operations.ts'
import type { Result } from '../core/screen.ts'

type BoardData = OperationResponse<'readMonitorBoard'>['data']

const REFRESH_MS = 15_000

/** All monitors of the project in the memory of this tab. */
export type BoardIndex = {
  /** null until the first read */
  rows: Map<string, BoardRow> | null
  /** The rows in their order, which is computed when it is needed. Null until the first read. */
  sorted(): SortedBoard | null
  atMs: number
  error: OperationError | null
  /** Reads what changed since the last read, or waits for a read on its way. */
  refresh(): Promise<void>
  /** Reads what just changed, also after a read on its way, which may not contain it. Reads nothing before the first use. */
  renew(): Promise<void> | null
  /** Applies changed monitors that events contain. */
  apply(changes: readonly BoardData[]): void
  /** Calls back after each read. Returns the function that ends it. */
  subscribe(onRead: () => void): () => void
}

/** Creates the index. It reads nothing until it is first used. */
export function createBoardIndex(execute: Execute): BoardIndex {
  /** what the reads returned, up to `revision`; events are not in it */
  let known: Map<string, BoardRow> | null = null
  let revision: string | null = null
  /** events that arrived after the request of the read on its way, whose answer may be older */
  let newer: BoardData[] = []
  let reading: Promise<void> | null = null
  /** something changed after the request was sent */
  let isOutdated = false
  let sorted: SortedBoard | null = null
  let unreadSince: string | null = null
  let sortedRows: Map<string, BoardRow> | null = null
  const listeners = new Set<() => void>()
  const index: BoardIndex = {
    rows: null,
    atMs: 0,
    error: null,
    sorted() {
      if (index.rows !== sortedRows) {
        sorted = index.rows && sortBoard([...index.rows.values()], sorted, unreadSince)
        sortedRows = index.rows
      }
      return sorted
    },
    refresh: () => {
      reading ??= read().finally(() => {
        reading = null
      })
      return reading
    },
    renew() {
      isOutdated = true
      return index.rows || reading ? index.refresh() : null
    },
    apply(changes) {
      isOutdated = true
      if (reading) newer.push(...changes)
      // before the first read there is nothing to change; the next read covers the change
      if (index.rows === null) return
      index.rows = changes.reduce(applyBoard, index.rows)
      index.atMs = Date.now()
      for (const listener of listeners) listener()
    },
    subscribe(onRead) {
      listeners.add(onRead)
      return () => listeners.delete(onRead)
    },
  }
  async function read(): Promise<void> {
    // calls of the same moment share the read
    await null
    do {
      isOutdated = false
      newer = []
      const outcome = await execute('readMonitorBoard', revision === null ? {} : { query: { since: revision } })
      index.error = 'error' in outcome ? outcome.error : null
      if ('data' in outcome) show(outcome.data.data)
      for (const listener of listeners) listener()
    } while (isOutdated && !index.error)
  }
  function show(answer: BoardData): void {
    if (index.rows === null) performance.mark('picket-index')
    known = applyBoard(known, answer)
    revision = answer.revision
    // a server of the version before does not say it
    unreadSince = answer.unread_since ?? null
    index.rows = newer.reduce(applyBoard, known)
    index.atMs = Date.now()
  }
  return index
}

/** Applies an answer to the rows before it. `reset` replaces all of them. */
export function applyBoard(before: Map<string, BoardRow> | null, data: BoardData): Map<string, BoardRow> {
  const rows = data.reset ? new Map<string, BoardRow>() : new Map(before)
  for (const id of data.removed) rows.delete(id)
  for (const row of toBoardRows(data)) rows.set(row.id, row)
  return rows
}

/** All monitors that match a query; null when they cannot be read. */
export async function findMonitors(
  index: BoardIndex,
  request: BoardRequest,
  nowMs: number,
): Promise<BoardSelection | null> {
  if (index.rows === null) await index.refresh()
  const sorted = index.sorted()
  return sorted && selectRows(sorted, parseBoardQuery(request.text, nowMs).matches, request)
}

/**
 * The monitors that a screen shows, up to date while it is shown; until the first read those of the server. `sortAgain`: shows
 * them in their current order.
 */
export function useBoard(
  index: BoardIndex,
  request: BoardRequest | null,
  initial: Result<BoardSelection> | null,
  nowMs: number,
): { result: Result<BoardSelection>; sortAgain(): void } {
  const [, render] = useReducer((count: number) => count + 1, 0)
  const isUsed = request !== null
  useEffect(() => {
    if (!isUsed) return undefined
    const end = index.subscribe(() => render(undefined))
    void index.refresh()
    const timer = setInterval(() => {
      if (!document.hidden) void index.refresh()
    }, REFRESH_MS)
    return () => {
      end()
      clearInterval(timer)
    }
  }, [index, isUsed])
  const { rows, atMs, error } = index
  const minute = Math.floor(nowMs / 60_000)
  const order = useRef<{ of: string; shown: SortedBoard } | null>(null)
  const [sorting, sortAgain] = useReducer((count: number) => count + 1, 0)
  const data = useMemo(() => {
    const sorted = request && index.sorted()
    if (!sorted || !rows) return null
    const { matches } = parseBoardQuery(request.text, nowMs)
    if (!request.keepsOrder) return selectRows(sorted, matches, request)
    // more rows of the same list keep the order of those before
    const of = JSON.stringify([request.text, sorting])
    if (order.current?.of !== of) order.current = { of, shown: sorted }
    return selectInOrder(sorted, { shown: order.current.shown, byId: rows }, matches, request)
  }, [rows, JSON.stringify(request), minute, sorting])
  if (!request?.keepsOrder) order.current = null
  const known = initial ? { ...initial, error: error ?? initial.error } : { data: null, atMs: 0, error }
  return { result: data ? { data, atMs, error } : known, sortAgain: () => sortAgain(undefined) }
}
