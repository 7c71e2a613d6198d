import { chromium } from 'playwright-core'
import { findBrowser } from '../../probe-agent/screenshots/chromium/find-browser.ts'
import type { Teardown } from './teardown.ts'
import { HANG_MS } from './wait.ts'

/** The browser that probes use on this machine; `npm test` installs it. */
export function chromiumPath(): string {
  const found = findBrowser(null)
  if (found && 'path' in found) return found.path
  throw new Error('chromium is missing: run "sudo apt-get install chromium" once')
}

export type Pictures = {
  /** red, green and blue of a pixel, 0 to 255, and the size of the whole */
  look(bytes: Buffer, contentType: string, x: number, y: number): Promise<{ rgb: number[]; size: [number, number] }>
}

/** Decodes images as a customer's browser does. */
export async function openPictures(t: Teardown): Promise<Pictures> {
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'], timeout: HANG_MS })
  t.teardown(() => browser.close())
  const page = await browser.newPage()
  page.setDefaultTimeout(HANG_MS)
  return {
    async look(bytes, contentType, x, y) {
      const source = `data:${contentType};base64,${bytes.toString('base64')}`
      await page.setContent(`<img src="${source}">`)
      // as text, because it runs in the page and not in the test
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
