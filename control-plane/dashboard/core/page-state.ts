import type { BoardSelection } from './board/board.ts'
import type { DisplaySettings, Me } from './frame-context.ts'
import type { Result } from './screen.ts'

/** What the server leaves in the page, so that the browser takes over without asking again. */
export type DocumentState = {
  me: Me
  /** by the name of the query */
  results: Record<string, Result<unknown>>
  /** the monitors that the page shows */
  board: Result<BoardSelection>
  /** the time at which the server rendered the page */
  nowMs: number
  /** what identifies the program: another one means that the server has a new version */
  build: string
}

/** The element that contains the state, and the one that contains the page. */
export const STATE_ID = 'page-state'
export const ROOT_ID = 'page'

/** What the styles of a page depend on, as `data-…` attributes of its root element. */
export const buildDisplay = ({ theme, density }: DisplaySettings) => ({ theme, density })

/** JSON for a script element. It contains no `<`, so nothing in it can end the element. */
export const serializeState = (state: DocumentState): string => JSON.stringify(state).replaceAll('<', '\\u003c')
