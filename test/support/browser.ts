import { type Browser, chromium, type Page } from 'playwright-core'
import { chromiumPath } from './chromium-path.ts'
import { oncePerProcess } from './once-per-process.ts'
import type { Teardown } from './teardown.ts'
import { HANG_MS } from './wait.ts'

/** No host but this machine is found. */
const ONLY_LOCAL = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1'

/** Most pages of tests end before code that V8 optimizes saves more time than the compilers take: a sixth of a page's time. */
const NEVER_OPTIMIZE = '--js-flags=--no-opt,--no-maglev'

/** A browser until the end of the test. */
async function launchBrowser(t: Teardown): Promise<Browser> {
  const args = ['--no-sandbox', ONLY_LOCAL, NEVER_OPTIMIZE]
  const browser = await chromium.launch({ executablePath: chromiumPath(), args, timeout: HANG_MS })
  t.teardown(() => browser.close())
  return browser
}

/** The browser that all test files of the process share. Each file opens its own contexts, and closes them. */
export const shareBrowser = oncePerProcess(launchBrowser)

/** An empty page of a browser, until the end of the test. */
export async function openEmptyPage(t: Teardown, browser: Browser): Promise<Page> {
  const context = await browser.newContext()
  t.teardown(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(HANG_MS)
  return page
}

type Pictures = {
  /** red, green and blue of a pixel, 0 to 255, and the size of the picture */
  look(bytes: Buffer, contentType: string, x: number, y: number): Promise<{ rgb: number[]; size: [number, number] }>
}

/** Reads pictures in a browser of its own, so that tests of screenshots can wait until no other one is left. */
export async function openPictures(t: Teardown): Promise<Pictures> {
  const page = await openEmptyPage(t, await launchBrowser(t))
  return {
    async look(bytes, contentType, x, y) {
      const source = `data:${contentType};base64,${bytes.toString('base64')}`
      await page.setContent(`<img src="${source}">`)
      // as text: this program runs in the page
      return page.evaluate(`(async () => {
        const image = document.querySelector('img')
        await image.decode()
        const canvas = document.createElement('canvas')
        canvas.width = image.naturalWidth
        canvas.height = image.naturalHeight
        const context = canvas.getContext('2d')
        context.drawImage(image, 0, 0)
        const rgb = [...context.getImageData(${x}, ${y}, 1, 1).data].slice(0, 3)
        return { rgb, size: [canvas.width, canvas.height] }
      })()`)
    },
  }
}
