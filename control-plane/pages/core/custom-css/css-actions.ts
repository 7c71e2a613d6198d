import { createLruCache } from '../../../foundation/platform/cache/lru-cache.ts'
import { createProjectThread } from '../../../foundation/web/limits/project-thread.ts'
import { type SanitizedCss, sanitizeCss } from './css-sanitizer.ts'

/** Read at once: some 10 ms at worst. 64 KiB take 150 ms. */
const MAX_INLINE_CHARACTERS = 4_096
const inThread = createProjectThread<string, SanitizedCss>('css-worker', import.meta.url, {
  maxWaiting: 50,
  memoryMb: 256,
  one: 'style',
  many: 'long styles',
})

/** A page is made again whenever something on it changes, mostly with the same styles: at most 40 MB. */
const known = createLruCache<SanitizedCss>(300)

/** A customer's CSS as it may stand in the page (makeSafe). Throws 429 where too many long ones of the project wait, and 503. */
export async function sanitizeProjectCss(projectId: string, source: string): Promise<SanitizedCss> {
  const before = known.get(source)
  if (before) return before
  const made = source.length <= MAX_INLINE_CHARACTERS ? sanitizeCss(source) : await inThread(projectId, source)
  known.set(source, made)
  return made
}
