import type { ScreenEntry } from '../core/screen.ts'
import { channelListScreen } from './alerts/channel-list.tsx'
import { deliveryScreen } from './alerts/delivery.tsx'
import { deliveryListScreen } from './alerts/delivery-list.tsx'
import { incidentScreen } from './incidents/incident.tsx'
import { incidentListScreen } from './incidents/incident-list.tsx'
import { monitorsScreen } from './monitors/list/monitors.tsx'
import { monitorScreen } from './monitors/monitor.tsx'
import { overviewScreen } from './overview.tsx'
import { SETUP_SCREENS } from './setup/index.ts'
import { START_SCREENS } from './start/index.ts'

/** Every page of the dashboard. The server and the browser make their routes from this list; the first match counts. */
export const SCREENS: readonly ScreenEntry[] = [
  overviewScreen,
  monitorsScreen,
  incidentListScreen,
  incidentScreen,
  deliveryListScreen,
  deliveryScreen,
  channelListScreen,
  ...SETUP_SCREENS,
  ...START_SCREENS,
  monitorScreen,
]
