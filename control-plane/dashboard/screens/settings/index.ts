import type { ScreenEntry } from '../../core/screen.ts'

/** The settings of the organization and the regions, whose code is loaded when one is opened. */
export const SETTINGS_SCREENS: readonly ScreenEntry[] = [
  {
    path: '/fleet',
    area: 'monitors',
    load: async () => (await import('./fleet/fleet.tsx')).fleetScreen,
  },
  {
    path: '/settings',
    area: 'settings',
    load: async () => (await import('./organization.tsx')).organizationScreen,
  },
  {
    path: '/settings/members',
    area: 'settings',
    load: async () => (await import('./members/members.tsx')).membersScreen,
  },
  {
    path: '/settings/keys',
    area: 'settings',
    load: async () => (await import('./keys/keys.tsx')).keysScreen,
  },
  {
    path: '/settings/audit',
    area: 'settings',
    load: async () => (await import('./audit/audit-log.tsx')).auditLogScreen,
  },
  {
    path: '/settings/chat',
    area: 'settings',
    load: async () => (await import('./chat/chat.tsx')).chatScreen,
  },
  {
    path: '/settings/wall',
    area: 'settings',
    load: async () => (await import('./wall/wall-links.tsx')).wallLinksScreen,
  },
]
