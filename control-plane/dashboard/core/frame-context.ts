import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { BoardSelection } from './board/board.ts'
import type { BoardRequest } from './board/board-row.ts'
import type { Execute, OperationResponse } from './operations.ts'
import type { Queries, Screen } from './screen.ts'

export type Me = OperationResponse<'readMe'>['data']
export type DisplaySettings = NonNullable<Me['preferences']>

/** What every part of a screen may use. */
export type FrameContext = {
  me: Me
  /** the current time, in ms; it advances while the page is open */
  nowMs: number
  /** the chosen one, or that of the browser; UTC until the browser has taken over the page */
  timeZone: string
  /** false on the server and until the browser has taken over */
  isInteractive: boolean
  /** carries out an operation; after a change, reads again what the page shows */
  execute: Execute
  /** reads again what the page shows */
  refresh(): Promise<void>
  /** waits until the queries of the page were answered again after the last change; `execute` waits only some seconds */
  whenRefreshed(): Promise<unknown>
  /** opens another page of the dashboard; `isReplaced`: instead of this one in the history of the browser */
  navigate(address: string, isReplaced?: boolean): void
  /** asks before the page is left, until the returned function is called */
  holdPage(): () => void
  /** whether the page may be left; asks the person if something on it is not saved */
  mayLeave(what?: 'page' | 'form'): boolean
  /** shows the monitors of a list in their current order */
  sortAgain(): void
  /** all monitors of the project that match; null when they cannot be read */
  findMonitors(request: BoardRequest): Promise<BoardSelection | null>
  /** the page that is shown, and what it reads itself; null while its code is loaded */
  page: { screen: Screen; queries: Queries } | null
  /** opens the command palette, the list of keys, the choice of theme and density, or the API calls of the page */
  openOverlay(kind: OverlayKind): void
  keys: KeySettings
}

export type OverlayKind = 'palette' | 'keys' | 'display' | 'calls'

/** What keys without Ctrl or Cmd do, by key. */
export type KeyActions = Record<string, () => void>

/** Keys without Ctrl or Cmd. A person can switch them off. */
export type KeySettings = {
  areOn: boolean
  setOn(areOn: boolean): void
  /** The actions apply while no field has the focus and no dialog is open. Returns the function that ends them. */
  bind(actions: KeyActions): () => void
}

/** The `aria-keyshortcuts` of an element that a key clicks (browser/keys.ts); undefined: such keys are switched off. */
export const toKeyShortcut = ({ preferences }: Me, key: string): string | undefined =>
  preferences?.keyboard_shortcuts === false ? undefined : key

/** What a page can do without scripts. */
export const STATIC_TOOLS: Omit<FrameContext, 'me' | 'nowMs' | 'timeZone' | 'isInteractive' | 'execute'> = {
  refresh: async () => {},
  whenRefreshed: async () => {},
  navigate: () => {},
  holdPage: () => () => {},
  mayLeave: () => true,
  sortAgain: () => {},
  findMonitors: async () => null,
  page: null,
  openOverlay: () => {},
  keys: { areOn: true, setOn: () => {}, bind: () => () => {} },
}

const Context = createContext<FrameContext | null>(null)

export const FrameProvider = Context.Provider

/** Throws outside the frame. */
export function useFrame(): FrameContext {
  const context = useContext(Context)
  if (!context) throw new Error('this part is outside the frame')
  return context
}

/** Whether the person may change records: not for viewers. */
export const canWrite = ({ scope }: Me): boolean => scope !== 'read'
