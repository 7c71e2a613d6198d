import { createRecent } from '../platform/recent.ts'
import { projectThread } from '../web/project-thread.ts'
import { makeSafe, type SafeCss } from './custom-css.ts'

/** Read at once: some 10 ms at worst. 64 KiB take 150 ms. */
const INLINE_CHARACTERS = 4_096
const inThread = projectThread<string, SafeCss>('css-worker', import.meta.url, {
  mostWaiting: 50,
  memoryMb: 256,
  one: 'style',
  many: 'long styles',
})

/** A page is made again whenever something on it changes, mostly with the same styles: at most 40 MB. */
const known = createRecent<SafeCss>(300)

/** A customer's CSS as it may stand in the page (makeSafe). Throws 429 where too many long ones of the project wait, and 503. */
export async function readCss(projectId: string, source: string): Promise<SafeCss> {
  const before = known.get(source)
  if (before) return before
  const made = source.length <= INLINE_CHARACTERS ? makeSafe(source) : await inThread(projectId, source)
  known.set(source, made)
  return made
}
