import type { ScreenEntry } from '../../core/screen.ts'

/** The forms, whose code is loaded when one is opened. Before `/monitors/:id`, because the first path that fits counts. */
export const SETUP_SCREENS: readonly ScreenEntry[] = [
  {
    path: '/monitors/new',
    area: 'monitors',
    load: async () => (await import('./monitors/new-monitor.tsx')).newMonitorScreen,
  },
  {
    path: '/monitors/:id/settings',
    area: 'monitors',
    load: async () => (await import('./monitors/monitor-settings.tsx')).monitorSettingsScreen,
  },
  {
    path: '/settings/channels/new',
    area: 'alerts',
    load: async () => (await import('./channels/new-channel.tsx')).newChannelScreen,
  },
  {
    path: '/settings/channels/:id',
    area: 'alerts',
    load: async () => (await import('./channels/channel-settings.tsx')).channelSettingsScreen,
  },
]
