import type { ScreenEntry } from '../../../core/screen.ts'

/** The pages about maintenance windows. `/maintenance/new` comes before `/maintenance/:id`, because the first path that fits counts. */
export const MAINTENANCE_SCREENS: readonly ScreenEntry[] = [
  {
    path: '/maintenance',
    area: 'incidents',
    load: async () => (await import('./maintenance.tsx')).maintenanceScreen,
  },
  {
    path: '/maintenance/new',
    area: 'incidents',
    load: async () => (await import('./new-window.tsx')).newWindowScreen,
  },
  {
    path: '/maintenance/:id',
    area: 'incidents',
    load: async () => (await import('./window-settings.tsx')).windowSettingsScreen,
  },
]
