import type { ScreenEntry } from '../../core/screen.ts'

/** What brings monitors and statuses from elsewhere. Their code is loaded when one is opened. */
export const INTEGRATION_SCREENS: readonly ScreenEntry[] = [
  {
    path: '/sources',
    area: 'monitors',
    load: async () => (await import('./sources/source-list.tsx')).sourceListScreen,
  },
  {
    path: '/sources/new',
    area: 'monitors',
    load: async () => (await import('./sources/new-source.tsx')).newSourceScreen,
  },
  {
    path: '/sources/:id',
    area: 'monitors',
    load: async () => (await import('./sources/source.tsx')).sourceScreen,
  },
  {
    path: '/dependencies',
    area: 'monitors',
    load: async () => (await import('./dependencies/dependency-list.tsx')).dependencyListScreen,
  },
  {
    path: '/dependencies/new',
    area: 'monitors',
    load: async () => (await import('./dependencies/new-dependency.tsx')).newDependencyScreen,
  },
  {
    path: '/dependencies/:id',
    area: 'monitors',
    load: async () => (await import('./dependencies/dependency.tsx')).dependencyScreen,
  },
]
