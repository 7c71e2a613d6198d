import type { ComponentChildren } from 'preact'
import type { BoardSelection } from './board/board.ts'
import type { BoardRequest } from './board/board-row.ts'
import type { DataQuery, OperationError, OperationName, OperationResponse } from './operations.ts'

/** The reads of a screen by name. */
export type Queries = Record<string, DataQuery>

type ResponseTo<Q> = Q extends DataQuery<infer Name extends OperationName> ? OperationResponse<Name> : never

/**
 * The current answer to a query. An error does not remove the last data, so that a screen can show them as old. `atMs`: when
 * the data were read.
 */
export type Result<T> = { data: T | null; atMs: number; error: OperationError | null }

export type Results<Q extends Queries> = { [Name in keyof Q]: Result<ResponseTo<Q[Name]>> }

/** `params`: of the path, such as `id`. `search`: the query of the address. */
export type ScreenLocation = { params: Record<string, string>; search: URLSearchParams }

type ScreenProps<Q extends Queries> = ScreenLocation & { results: Results<Q>; board: Result<BoardSelection> }

/** One page of the dashboard. Pure: the server renders it, and the browser takes over the same elements. */
export type Screen<Q extends Queries = Queries> = {
  /** as in `/monitors/:id` */
  path: string
  /** the entry of the navigation to which the screen belongs */
  area: ScreenArea
  /** Arguments that depend on `nowMs` must stay the same for a while: another argument is another read. `me`: who reads. */
  queries(location: ScreenLocation, nowMs: number, me: OperationResponse<'readMe'>['data']): Q
  /** the monitors that the screen shows; without it, none are read */
  board?(location: ScreenLocation): BoardRequest
  /** the name of the query whose record the screen is about: without it the page is not found */
  record?: keyof Q & string
  title(props: ScreenProps<Q>): string
  Body(props: ScreenProps<Q>): ComponentChildren
}

export type ScreenArea = 'overview' | 'monitors' | 'incidents' | 'pages' | 'alerts' | 'settings'

/** Declares a screen, so that the types of its results follow from its queries. */
export const screen = <Q extends Queries>(declared: Screen<Q>): Screen => declared as unknown as Screen

/** A screen whose code browsers load when it is first opened. */
type LazyScreen = Pick<Screen, 'path' | 'area'> & { load(): Promise<Screen> }

/** An entry of the list of screens. */
export type ScreenEntry = Screen | LazyScreen

/** The lazy screens whose code is there. */
const loaded = new WeakMap<ScreenEntry, Screen>()

/** The screen of an entry; null while its code is not loaded. */
export const getScreen = (entry: ScreenEntry): Screen | null => ('load' in entry ? (loaded.get(entry) ?? null) : entry)

/** Loads the code of a screen. Throws when that fails, for example because the server has another version. */
export async function loadScreen(entry: ScreenEntry): Promise<Screen> {
  const there = getScreen(entry)
  if (there) return there
  const screen = await (entry as LazyScreen).load()
  loaded.set(entry, screen)
  return screen
}

/** Finds the screen of a path, and its parameters. Returns null for other paths. */
export function matchScreen<Entry extends { path: string }>(
  screens: readonly Entry[],
  path: string,
): { screen: Entry; params: Record<string, string> } | null {
  for (const candidate of screens) {
    const params = matchPath(candidate.path, path)
    if (params) return { screen: candidate, params }
  }
  return null
}

function matchPath(pattern: string, path: string): Record<string, string> | null {
  const [wanted, parts] = [pattern.split('/'), path.split('/')]
  if (wanted.length !== parts.length) return null
  const params: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    const value = parts[i] ?? ''
    if (part.startsWith(':') && value !== '') params[part.slice(1)] = value
    else if (part !== value) return null
  }
  return params
}
