import type { Screen } from '../core/screen.ts'
import { incidentListScreen } from './incidents/incident-list.tsx'
import { overviewScreen } from './overview.tsx'

/** Every page of the dashboard. The server and the browser make their routes from this list. */
export const SCREENS: readonly Screen[] = [overviewScreen, incidentListScreen]
