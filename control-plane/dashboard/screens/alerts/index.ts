import type { ScreenEntry } from '../../core/screen.ts'

/**
 * The log of deliveries, the channels and the settings of alerts, whose code is loaded when one is opened. `/log/relay` is before
 * `/log/:id`, because the first path that fits counts.
 */
export const ALERTING_SCREENS: readonly ScreenEntry[] = [
  { path: '/log', area: 'alerts', load: async () => (await import('./delivery-list.tsx')).deliveryListScreen },
  {
    path: '/settings/alerts',
    area: 'alerts',
    load: async () => (await import('./settings/alert-settings.tsx')).alertSettingsScreen,
  },
  {
    path: '/settings/alerts/messages',
    area: 'alerts',
    load: async () => (await import('./settings/messages.tsx')).messagesScreen,
  },
  { path: '/log/relay', area: 'alerts', load: async () => (await import('./settings/relay.tsx')).relayScreen },
  { path: '/log/:id', area: 'alerts', load: async () => (await import('./delivery.tsx')).deliveryScreen },
  {
    path: '/settings/channels',
    area: 'alerts',
    load: async () => (await import('./channel-list.tsx')).channelListScreen,
  },
]
