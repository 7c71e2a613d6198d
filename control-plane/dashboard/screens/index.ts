import type { Screen } from '../core/screen.ts'
import { overviewScreen } from './overview.tsx'
import { SETUP_SCREENS } from './setup/index.ts'

/** Every page of the dashboard. The server and the browser make their routes from this list. */
export const SCREENS: readonly Screen[] = [overviewScreen, ...SETUP_SCREENS]
