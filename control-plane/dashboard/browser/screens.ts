import { useEffect, useReducer } from 'preact/hooks'
import { getScreen, loadScreen, matchScreen, type Screen } from '../core/screen.ts'
import { SCREENS } from '../screens/index.ts'

/** What the address of a page opens. `screen` null: its code is being loaded. */
type ScreenMatch = { screen: Screen | null; params: Record<string, string> }

/** The addresses that the router opens. Links to other pages, such as the API reference, load them. */
export const SCREEN_ADDRESS = new RegExp(
  `^(?:${SCREENS.map(({ path }) => path.replace(/:\w+/g, '[^/?#]+')).join('|')})(?:[?#]|$)`,
)

/** Loads the code of the screen of a path; null for other paths. */
export async function loadMatch(path: string): Promise<{ screen: Screen; params: Record<string, string> } | null> {
  const match = matchScreen(SCREENS, path)
  return match && { ...match, screen: await loadScreen(match.screen) }
}

/**
 * The screen of a path, whose code is loaded if it is not there. Code that cannot be loaded, because the server has another
 * version, is part of the page that the server sends, so the page is loaded. Null for other paths.
 */
export function useMatch(path: string): ScreenMatch | null {
  const [, render] = useReducer((count: number) => count + 1, 0)
  const match = matchScreen(SCREENS, path)
  const screen = match && getScreen(match.screen)
  useEffect(() => {
    if (!match || screen) return undefined
    let isCurrent = true
    loadScreen(match.screen).then(
      () => isCurrent && render(undefined),
      () => isCurrent && location.reload(),
    )
    return () => {
      isCurrent = false
    }
  }, [path])
  return match && { screen, params: match.params }
}
