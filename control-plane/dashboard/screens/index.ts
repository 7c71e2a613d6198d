import type { Screen } from '../core/screen.ts'
import { monitorScreen } from './monitors/monitor.tsx'
import { monitorsScreen } from './monitors/monitors.tsx'
import { overviewScreen } from './overview.tsx'
import { SETUP_SCREENS } from './setup/index.ts'

/** Every page of the dashboard. The server and the browser make their routes from this list; the first match counts. */
export const SCREENS: readonly Screen[] = [overviewScreen, monitorsScreen, ...SETUP_SCREENS, monitorScreen]
