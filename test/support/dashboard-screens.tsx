import type { ComponentChildren } from 'preact'
import { type BoardSelection, selectRows, toBoardRows } from '../../control-plane/dashboard/core/board/board.ts'
import { parseBoardQuery } from '../../control-plane/dashboard/core/board/board-query.ts'
import type { BoardRequest } from '../../control-plane/dashboard/core/board/board-row.ts'
import { sortBoard } from '../../control-plane/dashboard/core/board/sorted-board.ts'
import {
  type FrameContext,
  FrameProvider,
  type Me,
  STATIC_TOOLS,
} from '../../control-plane/dashboard/core/frame-context.ts'
import type { OperationError, OperationName, OperationResponse } from '../../control-plane/dashboard/core/operations.ts'
import {
  loadScreen,
  matchScreen,
  type Queries,
  type Result,
  type Results,
} from '../../control-plane/dashboard/core/screen.ts'
import { renderPage } from '../../control-plane/dashboard/document.tsx'
import { Frame, type FrameNotice } from '../../control-plane/dashboard/parts/layout/frame.tsx'
import { buildTitle, ScreenContent } from '../../control-plane/dashboard/parts/layout/screen-content.tsx'
import { SCREENS } from '../../control-plane/dashboard/screens/index.ts'
import { renderHtml } from '../../control-plane/foundation/web/html/render.ts'
import { type ApiAnswers, HEALTHY_ANSWERS } from './dashboard-answers.ts'
import { ADMIN, buildBoard, NOW } from './dashboard-fixtures.ts'

/** What a screen is rendered from. `errors` and `loading`: operations without an answer; `board` is one of them. */
export type ScreenState = {
  me?: Me
  answers?: ApiAnswers
  board?: OperationResponse<'readMonitorBoard'>['data']
  errors?: Partial<Record<OperationName, OperationError>>
  /** reads without an answer, by their name in the screen */
  failed?: Record<string, OperationError>
  /** data of an earlier read stay when a later one fails */
  isOld?: boolean
  loading?: readonly OperationName[] | 'everything'
  isInteractive?: boolean
  /** the number of active monitors without an alert channel */
  unalerted?: number
  /** the notice above the page, such as a lost connection */
  notice?: FrameNotice
}

/** Every screen, with its code. */
export const LOADED_SCREENS = await Promise.all(SCREENS.map(loadScreen))

/** Renders the screen of an address as the server does: the content of the page, the whole page, and its title. */
export function renderScreen(address: string, state: ScreenState = {}) {
  const [path = '', search = ''] = address.split('?')
  const match = matchScreen(LOADED_SCREENS, path)
  if (!match) throw new Error(`no screen has the path ${path}`)
  const location = { params: match.params, search: new URLSearchParams(search) }
  const { screen } = match
  const results = Object.fromEntries(
    Object.entries(screen.queries(location, NOW, state.me ?? ADMIN)).map(([name, { name: operation }]) => {
      const error = state.failed?.[name]
      return [name, buildResult(operation, error ? { ...state, errors: { [operation]: error } } : state)]
    }),
  ) as Results<Queries>
  const request = screen.board?.(location)
  const board = request ? selectBoard(request, state) : NOTHING
  const shown = { screen, location, results, board }
  const content = (
    <FrameProvider value={buildContext(state)}>
      <Frame area={screen.area} notice={state.notice ?? null} unalerted={state.unalerted ?? 0}>
        <ScreenContent {...shown} />
      </Frame>
    </FrameProvider>
  )
  const title = buildTitle(shown)
  const pageState = { me: state.me ?? ADMIN, results, board, nowMs: NOW, build: 'test' }
  return {
    html: renderHtml(content),
    title,
    page: renderPage(title, content, pageState),
    queries: Object.keys(results),
  }
}

/** Renders a part of a screen. */
export const renderPart = (content: ComponentChildren, state: ScreenState = {}): string =>
  renderHtml(<FrameProvider value={buildContext(state)}>{content}</FrameProvider>)

const NOTHING = { data: null, atMs: 0, error: null }

const buildContext = ({ me = ADMIN, isInteractive = false }: ScreenState): FrameContext => ({
  ...{ me, nowMs: NOW, timeZone: 'UTC', isInteractive },
  execute: async () => {
    throw new Error('a screen does no I/O while it is rendered')
  },
  ...STATIC_TOOLS,
})

function buildResult(name: OperationName, state: ScreenState): Result<unknown> {
  const { answers = {}, errors = {}, loading = [], isOld = false } = state
  const error = errors[name] ?? null
  const isMissing = loading === 'everything' || loading.includes(name) || (error && !isOld)
  const data = isMissing ? null : ({ ...HEALTHY_ANSWERS, ...answers }[name] ?? null)
  if (data === null && !isMissing) throw new Error(`there is no answer of ${name}`)
  return { data, atMs: NOW - 60_000, error }
}

function selectBoard(request: BoardRequest, state: ScreenState): Result<BoardSelection> {
  const { board = buildBoard([{ name: 'Shop' }]) } = state
  const answer = buildResult('readMonitorBoard', { ...state, answers: { readMonitorBoard: { data: board } } })
  if (answer.data === null) return { ...answer, data: null }
  return {
    ...answer,
    data: selectRows(
      sortBoard(toBoardRows(board), null, board.unread_since),
      parseBoardQuery(request.text, NOW).matches,
      request,
    ),
  }
}

/** The text of HTML as a reader sees it, with single spaces. */
export const toText = (html: string): string =>
  html
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .trim()
