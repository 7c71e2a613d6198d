import type { Screen } from '../../core/screen.ts'
import { channelSettingsScreen } from './channels/channel-settings.tsx'
import { newChannelScreen } from './channels/new-channel.tsx'
import { monitorSettingsScreen } from './monitors/monitor-settings.tsx'
import { newMonitorScreen } from './monitors/new-monitor.tsx'

/** The forms. Before `/monitors/:id`, because the first path that fits counts. */
export const SETUP_SCREENS: readonly Screen[] = [
  newMonitorScreen,
  monitorSettingsScreen,
  newChannelScreen,
  channelSettingsScreen,
]
