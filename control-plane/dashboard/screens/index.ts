import type { ScreenEntry } from '../core/screen.ts'
import { ALERTING_SCREENS } from './alerts/index.ts'
import { HANDLING_SCREENS } from './incidents/handling/index.ts'
import { incidentScreen } from './incidents/incident.tsx'
import { INTEGRATION_SCREENS } from './integrations/index.ts'
import { monitorsScreen } from './monitors/list/monitors.tsx'
import { monitorScreen } from './monitors/monitor.tsx'
import { overviewScreen } from './overview/overview.tsx'
import { PAGES_SCREENS } from './pages/index.ts'
import { REACH_SCREENS } from './pages/reach/index.ts'
import { IMPORT_SCREENS } from './settings/import/index.ts'
import { SETTINGS_SCREENS } from './settings/index.ts'
import { SETUP_SCREENS } from './setup/index.ts'
import { START_SCREENS } from './setup/start/index.ts'
import { MAINTENANCE_SCREENS } from './suppression/maintenance/index.ts'

/** Every page of the dashboard. The server and the browser make their routes from this list; the first match counts. */
export const SCREENS: readonly ScreenEntry[] = [
  overviewScreen,
  monitorsScreen,
  {
    path: '/incidents',
    area: 'incidents',
    load: async () => (await import('./incidents/incident-list.tsx')).incidentListScreen,
  },
  ...HANDLING_SCREENS,
  incidentScreen,
  ...ALERTING_SCREENS,
  ...IMPORT_SCREENS,
  ...INTEGRATION_SCREENS,
  ...SETUP_SCREENS,
  ...PAGES_SCREENS,
  ...START_SCREENS,
  ...MAINTENANCE_SCREENS,
  ...REACH_SCREENS,
  ...SETTINGS_SCREENS,
  monitorScreen,
]
