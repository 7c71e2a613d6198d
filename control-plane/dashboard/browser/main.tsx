import { hydrate } from 'preact'
import { type DocumentState, ROOT_ID, STATE_ID } from '../core/page-state.ts'
import { matchScreen } from '../core/screen.ts'
import { SCREENS } from '../screens/index.ts'
import { App } from './app.tsx'

const root = document.getElementById(ROOT_ID)
const text = document.getElementById(STATE_ID)?.textContent
// a page without a state, such as an error, works without scripts
if (root && text) {
  await matchScreen(SCREENS, location.pathname)?.screen.load?.()
  hydrate(<App initial={JSON.parse(text) as DocumentState} />, root)
}
