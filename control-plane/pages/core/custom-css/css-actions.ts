import { createLruCache } from '../../../../shared/lru-cache.ts'
import { createProjectThread } from '../../../foundation/web/limits/project-thread.ts'
import { type SanitizedCss, sanitizeCss } from './css-sanitizer.ts'

/** Sanitized in the main thread: about 10 ms at worst. 64 KiB take 150 ms. */
const MAX_INLINE_CHARACTERS = 4_096
const inThread = createProjectThread<string, SanitizedCss>('css-worker', import.meta.url, {
  maxWaiting: 50,
  memoryMb: 256,
  one: 'style',
  many: 'long styles',
})

/** A page is built again after each change, mostly with the same CSS. The cache holds at most 40 MB. */
const cache = createLruCache<SanitizedCss>(300)

/**
 * Sanitizes a customer's CSS (see `sanitizeCss`). Throws 429 when too much long CSS of the project is waiting, and 503.
 */
export async function sanitizeProjectCss(projectId: string, source: string): Promise<SanitizedCss> {
  const cached = cache.get(source)
  if (cached) return cached
  const sanitized = source.length <= MAX_INLINE_CHARACTERS ? sanitizeCss(source) : await inThread(projectId, source)
  cache.set(source, sanitized)
  return sanitized
}
