import { UNALERTED_PATH } from '../../../core/frame-reads.ts'
import type { ScreenEntry } from '../../../core/screen.ts'

/** The first steps, whose code is loaded when one is opened. Before `/monitors/:id`, because the first path that fits counts. */
export const START_SCREENS: readonly ScreenEntry[] = [
  { path: '/start', area: 'overview', load: async () => (await import('./start.tsx')).startScreen },
  { path: UNALERTED_PATH, area: 'monitors', load: async () => (await import('./unalerted.tsx')).unalertedScreen },
]
