import type { QueryClient } from '@tanstack/query-core'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { LocationProvider, useLocation } from 'preact-iso/router'
import { type DisplaySettings, type FrameContext, FrameProvider } from '../core/frame-context.ts'
import { countUnalerted, FRAME_READS } from '../core/frame-reads.ts'
import { type Execute, type Outcome, read } from '../core/operations.ts'
import { buildDisplay, type DocumentState } from '../core/page-state.ts'
import type { Queries, Screen, ScreenLocation } from '../core/screen.ts'
import { Frame, type FrameNotice } from '../parts/layout/frame.tsx'
import { buildTitle, Loading, NotFound, ScreenContent } from '../parts/layout/screen-content.tsx'
import { type BoardIndex, createBoardIndex, findMonitors, useBoard } from './board.ts'
import { useKeySettings } from './keys.ts'
import { holdPage, loadWholePages, mayLeave } from './leave-question.ts'
import { useOverlay } from './overlay.tsx'
import { SCREEN_ADDRESS, useMatch } from './screens.ts'
import { type ApiConnection, buildNotice, buildSessionPath, useConnection, useLoss } from './server/connection.ts'
import { followChanges, gatherChanges, type LiveChange, refreshAfter } from './server/live.ts'
import { usePrefetch } from './server/prefetch.ts'
import {
  createCache,
  findDeleted,
  readAllAgain,
  seedCache,
  setDeleted,
  setLive,
  useResults,
  waitForRefresh,
} from './server/queries.ts'

const TICK_MS = 5_000

/** The page in the browser: the same elements as the server rendered, which then stay up to date. */
export const App = ({ initial }: { initial: DocumentState }) => (
  <LocationProvider scope={SCREEN_ADDRESS}>
    <Page initial={initial} />
  </LocationProvider>
)

function Page({ initial }: { initial: DocumentState }) {
  const { url, route } = useLocation()
  const [address = ''] = url.split('#')
  const [path = '', search = ''] = address.split('?')
  const firstPath = useRef(path).current
  const match = useMatch(path)
  const screen = match?.screen
  const connection = useConnection(initial.me)
  const cache = useMemo(createCache, [])
  const location: ScreenLocation = { params: match?.params ?? {}, search: new URLSearchParams(search) }
  const nowMs = useClock(initial.nowMs)
  const queries = { ...screen?.queries(location, nowMs, initial.me), ...FRAME_READS }
  useMemo(() => seedCache(cache, queries, initial), [])
  const results = useResults(cache, connection.execute, { address, queries }, initial.results)
  const index = useMemo(() => createBoardIndex(connection.execute), [])
  const request = screen?.board?.(location) ?? null
  const { result: board, sortAgain } = useBoard(index, request, path === firstPath ? initial.board : null, nowMs)
  const isFirst = useFirstRender()
  const isReplaced = useLiveChanges(cache, index, connection, initial)
  useLoss(cache, connection.loss)
  usePrefetch(cache, connection.execute, initial.me)
  const overlay = useOverlay()
  const [preferences, showChoice] = usePreferences(initial.me.preferences)
  useEffect(() => setDeleted(cache, null), [cache, path])
  const refreshing = useRef<Promise<unknown>>(Promise.resolve())
  const execute: Execute = async (name, args) => {
    const deleted = findDeleted(name, args)
    if (deleted) setDeleted(cache, deleted)
    const sent = connection.execute(name, args)
    if (name === 'updateMePreferences') void showChoice(args.body as Partial<DisplaySettings>, sent as never)
    const outcome = await sent
    if (deleted && 'error' in outcome) setDeleted(cache, null)
    // lists that are not shown still have the record
    else if (deleted) cache.removeQueries({ type: 'inactive' })
    if (/^(list|read|preview|export)/.test(name)) return outcome
    refreshing.current = readAllAgain(cache)
    await waitForRefresh(Promise.all([refreshing.current, index.renew()]))
    return outcome
  }
  const storeKeys = (areOn: boolean) => void execute('updateMePreferences', { body: { keyboard_shortcuts: areOn } })
  const keys = useKeySettings(preferences?.keyboard_shortcuts ?? true, storeKeys, overlay.open)
  // not at each render, because it takes as long as the rows of a filter
  const systemZone = useMemo(() => Intl.DateTimeFormat().resolvedOptions().timeZone, [nowMs])
  const zone = preferences?.time_zone ?? (isFirst ? 'UTC' : systemZone)
  const context: FrameContext = {
    me: { ...initial.me, preferences },
    nowMs,
    timeZone: zone,
    isInteractive: !isFirst,
    execute,
    refresh: () => readAllAgain(cache),
    whenRefreshed: () => refreshing.current,
    navigate: (address, isSameEntry) =>
      SCREEN_ADDRESS.test(address) && (isSameEntry || !isReplaced)
        ? route(address, isSameEntry)
        : window.location.assign(address),
    ...{ holdPage, mayLeave, sortAgain },
    findMonitors: request => findMonitors(index, request, Date.now()),
    page: screen ? { screen, queries: listPageCalls(screen, queries) } : null,
    openOverlay: overlay.open,
    keys,
  }
  const shown = screen && { screen, location, results, board }
  useTitle(shown ? buildTitle(shown) : match ? 'Loading · Picket' : 'Page not found · Picket')
  useFocusOnNavigation(path)
  return (
    <FrameProvider value={context}>
      <Frame
        area={screen?.area ?? null}
        notice={
          isFirst ? null : (buildNotice(connection, context, url) ?? (isReplaced ? buildVersionNotice(url) : null))
        }
        unalerted={countUnalerted(screen, results)}
      >
        {shown ? <ScreenContent key={path} {...shown} /> : match ? <Loading /> : <NotFound />}
      </Frame>
      {overlay.element}
    </FrameProvider>
  )
}

/** What the page reads, without what every page reads. */
const listPageCalls = (screen: Screen, queries: Queries): Queries =>
  Object.fromEntries([
    ...Object.entries(queries).filter(([, query]) => query !== FRAME_READS.unalerted),
    ...(screen.board ? [['board', read('readMonitorBoard', {})] as const] : []),
  ])

const buildVersionNotice = (path: string): FrameNotice => ({
  ...{ kind: 'version', text: 'The server has a new version. The next page that you open loads it.' },
  link: { path, name: 'Load it now' },
})

/**
 * Shows changes on the server within a second or two, as long as the stream of events is open. Returns whether the server was
 * replaced by another version than that of the page (`build`); then links load whole pages.
 */
function useLiveChanges(
  cache: QueryClient,
  index: BoardIndex,
  { noteContact }: ApiConnection,
  { build, me }: DocumentState,
): boolean {
  const [isReplaced, setReplaced] = useState(false)
  useEffect(() => (isReplaced ? loadWholePages() : undefined), [isReplaced])
  useEffect(() => {
    const onChanges = (changes: readonly LiveChange[]) => {
      const boards = changes.flatMap(({ board }) => board ?? [])
      if (boards.length > 0) index.apply(boards)
      const isUnknown = changes.some(({ kind, board }) => kind === 'reset' || (kind === 'board' && !board))
      if (isUnknown) void index.renew()
      // after the rows are rendered: the start of a read takes as long as many rows
      setTimeout(() => refreshAfter(cache, changes))
    }
    const gather = gatherChanges(onChanges)
    const onChange = (change: LiveChange) => {
      noteContact()
      gather(change)
    }
    return followChanges(buildSessionPath(me), onChange, state => {
      if (!('isLive' in state && !state.isLive)) noteContact()
      if ('isHeartbeat' in state) return
      if ('build' in state) return setReplaced(state.build !== build)
      if (state.isLive) performance.mark('picket-live')
      setLive(cache, state.isLive)
    })
  }, [cache, index])
  return isReplaced
}

/** True until the browser has taken over the elements of the server. */
function useFirstRender(): boolean {
  const [isFirst, setFirst] = useState(true)
  useEffect(() => {
    performance.mark('picket-interactive')
    setFirst(false)
  }, [])
  return isFirst
}

/** The current time, first that of the server, so that the first elements are the same. */
function useClock(startMs: number): number {
  const [nowMs, setNow] = useState(startMs)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  return nowMs
}

/**
 * The preferences, and how to show a choice while it is stored. Controls that waited for the response would show the previous
 * choice again at the next change on the page. A time zone is shown when it is accepted.
 */
function usePreferences(first: DisplaySettings | null) {
  const [shown, setShown] = useState(first)
  const stored = useRef(first)
  const unanswered = useRef(0)
  // the styles follow the attributes, which the server renders first (document.tsx)
  useEffect(() => {
    if (shown) Object.assign(document.documentElement.dataset, buildDisplay(shown))
  }, [shown])
  const showChoice = async (choice: Partial<DisplaySettings>, sent: Promise<Outcome<{ data: DisplaySettings }>>) => {
    if (!choice.time_zone) setShown(now => now && { ...now, ...choice })
    unanswered.current++
    const outcome = await sent
    if ('data' in outcome) stored.current = outcome.data.data
    if (--unanswered.current === 0) setShown(stored.current)
  }
  return [shown, showChoice] as const
}

function useTitle(title: string): void {
  useEffect(() => {
    document.title = title
  }, [title])
}

/** After navigation the focus is at the content, where a reader continues. */
function useFocusOnNavigation(path: string): void {
  const [focused, scrolled] = [useRef(path), useRef(path)]
  // at once: a frame later, it would take the focus from a field in which a person types already
  useLayoutEffect(() => {
    if (focused.current === path) return
    focused.current = path
    document.getElementById('content')?.focus({ preventScroll: true })
  }, [path])
  // after the browser has restored the position of a page to which it goes back
  useEffect(() => {
    if (scrolled.current === path) return
    scrolled.current = path
    scrollTo(0, 0)
  }, [path])
}
