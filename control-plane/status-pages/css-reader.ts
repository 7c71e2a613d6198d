import { createRecent } from '../platform/recent.ts'
import { askThread } from '../platform/thread.ts'
import { tooBusy } from '../web/errors.ts'
import { makeSafe, type SafeCss } from './custom-css.ts'

/** Read at once: some 10 ms at worst. 64 KiB take 150 ms. */
const INLINE_CHARACTERS = 4_096
const inThread = askThread<string, SafeCss>('css-worker', import.meta.url, {
  longestMs: 20_000,
  mostWaiting: 50,
  memoryMb: 256,
})

/** A page is made again whenever something on it changes, mostly with the same styles. */
const known = createRecent<SafeCss>(100)

/** A customer's CSS as it may stand in the page (makeSafe). Throws 503 where too many long ones are read. */
export async function readCss(source: string): Promise<SafeCss> {
  const before = known.get(source)
  if (before) return before
  const made = source.length <= INLINE_CHARACTERS ? makeSafe(source) : await readInThread(source)
  known.set(source, made)
  return made
}

async function readInThread(source: string): Promise<SafeCss> {
  try {
    return await inThread(source)
  } catch (error) {
    throw tooBusy(`the styles could not be read: ${(error as Error).message}`)
  }
}
