import { hydrate } from 'preact'
import { type DocumentState, ROOT_ID, STATE_ID } from '../core/page-state.ts'
import { App } from './app.tsx'
import { loadMatch } from './screens.ts'

const root = document.getElementById(ROOT_ID)
const text = document.getElementById(STATE_ID)?.textContent
// a page without a state, such as an error, works without scripts
if (root && text) {
  const initial = JSON.parse(text) as DocumentState
  // the first elements in the browser must be those of the server; without the code of its screen a page works without scripts
  loadMatch(location.pathname).then(
    () => hydrate(<App initial={initial} />, root),
    () => {},
  )
}
