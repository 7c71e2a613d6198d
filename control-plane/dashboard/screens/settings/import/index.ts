import type { ScreenEntry } from '../../../core/screen.ts'

export const IMPORT_SCREENS: readonly ScreenEntry[] = [
  {
    path: '/settings/import',
    area: 'settings',
    load: async () => (await import('./import-start.tsx')).importStartScreen,
  },
  {
    path: '/settings/import/:id',
    area: 'settings',
    load: async () => (await import('./import-plan.tsx')).importPlanScreen,
  },
]
