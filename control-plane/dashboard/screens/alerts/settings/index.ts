import type { ScreenEntry } from '../../../core/screen.ts'

/** The settings of alerts, whose code is loaded when one is opened. Before `/log/:id`, because the first path that fits counts. */
export const ALERTING_SCREENS: readonly ScreenEntry[] = [
  {
    path: '/settings/alerts',
    area: 'alerts',
    load: async () => (await import('./alert-settings.tsx')).alertSettingsScreen,
  },
  {
    path: '/settings/alerts/messages',
    area: 'alerts',
    load: async () => (await import('./messages.tsx')).messagesScreen,
  },
  { path: '/log/relay', area: 'alerts', load: async () => (await import('./relay.tsx')).relayScreen },
]
