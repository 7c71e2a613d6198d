import { lazyScreen, type Screen } from '../../core/screen.ts'

/** The forms. Before `/monitors/:id`, because the first path that fits counts. */
export const SETUP_SCREENS: readonly Screen[] = [
  lazyScreen('/monitors/new', 'monitors', async () => (await import('./monitors/new-monitor.tsx')).newMonitorScreen),
  lazyScreen(
    '/monitors/:id/settings',
    'monitors',
    async () => (await import('./monitors/monitor-settings.tsx')).monitorSettingsScreen,
  ),
  lazyScreen(
    '/settings/channels/new',
    'settings',
    async () => (await import('./channels/new-channel.tsx')).newChannelScreen,
  ),
  lazyScreen(
    '/settings/channels/:id',
    'settings',
    async () => (await import('./channels/channel-settings.tsx')).channelSettingsScreen,
  ),
]
