import { UNALERTED_PATH } from '../../core/frame-reads.ts'
import { lazyScreen, type Screen } from '../../core/screen.ts'

/** The first steps. Before `/monitors/:id`, because the first path that fits counts. */
export const START_SCREENS: readonly Screen[] = [
  lazyScreen('/start', 'overview', async () => (await import('./start.tsx')).startScreen),
  lazyScreen(UNALERTED_PATH, 'monitors', async () => (await import('./unalerted.tsx')).unalertedScreen),
]
