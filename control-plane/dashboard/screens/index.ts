import type { Screen } from '../core/screen.ts'
import { channelListScreen } from './alerts/channel-list.tsx'
import { deliveryScreen } from './alerts/delivery.tsx'
import { deliveryListScreen } from './alerts/delivery-list.tsx'
import { incidentScreen } from './incidents/incident.tsx'
import { incidentListScreen } from './incidents/incident-list.tsx'
import { overviewScreen } from './overview.tsx'

/** Every page of the dashboard. The server and the browser make their routes from this list. */
export const SCREENS: readonly Screen[] = [
  overviewScreen,
  incidentListScreen,
  incidentScreen,
  deliveryListScreen,
  deliveryScreen,
  channelListScreen,
]
