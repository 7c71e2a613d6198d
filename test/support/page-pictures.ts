import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { TEMPLATE_NAMES, type TemplateName } from '../../control-plane/pages/core/types.ts'
import type { PageSite } from './page-site.ts'
import { ordinaryView } from './status-page-view.ts'

/** Pictures for reviewers: each template in a brand colour of its own. */
export const PICTURES = fileURLToPath(new URL('../fixtures/status-pages', import.meta.url))

const COLORS: Record<TemplateName, string> = {
  minimal: '#5b3df5',
  brand: '#0f766e',
  terminal: '#16a34a',
  modern: '#5b3df5',
  clean: '#2563eb',
  developer: '#e11d48',
}

const LOOKS = [
  { name: 'desktop-light', size: { width: 1280, height: 1180 }, scheme: 'light', width: 640 },
  { name: 'phone-dark', size: { width: 390, height: 940 }, scheme: 'dark', width: 340 },
] as const

/** Names of all pictures, `modern-phone-dark.webp`. */
export const pictureNames = TEMPLATE_NAMES.flatMap(template => LOOKS.map(({ name }) => `${template}-${name}.webp`))

/** Takes every picture again, small enough for a repository. */
export async function writePictures(browser: Browser, site: PageSite): Promise<void> {
  mkdirSync(PICTURES, { recursive: true })
  for (const { name, size, scheme, width } of LOOKS) {
    const context = await browser.newContext({ viewport: size, colorScheme: scheme, deviceScaleFactor: 2 })
    const page = await context.newPage()
    for (const template of TEMPLATE_NAMES) {
      const brandColor = COLORS[template]
      await page.goto(site.show(ordinaryView({ template, brandColor, logoUrl: '/status/northwind/logo?v=1' })))
      writeFileSync(join(PICTURES, `${template}-${name}.webp`), await shrunk(page, await page.screenshot(), width))
    }
    await context.close()
  }
}

/** Converts a PNG to WebP of another width, on an empty tab whose policy allows it. */
export async function shrunk(page: Page, png: Buffer, width: number): Promise<Buffer> {
  const tab = await page.context().newPage()
  const source = `data:image/png;base64,${png.toString('base64')}`
  const data = await tab.evaluate<string>(`(async () => {
    const image = new Image()
    image.src = ${JSON.stringify(source)}
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = ${width}
    canvas.height = Math.round((image.naturalHeight * ${width}) / image.naturalWidth)
    const context = canvas.getContext('2d')
    context.imageSmoothingQuality = 'high'
    context.drawImage(image, 0, 0, canvas.width, canvas.height)
    return canvas.toDataURL('image/webp', 0.72)
  })()`)
  await tab.close()
  return Buffer.from(data.slice(data.indexOf(',') + 1), 'base64')
}
