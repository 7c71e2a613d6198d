import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { decodePage, type PageImage } from '../../control-plane/monitoring/screenshots/difference/page-difference.ts'
import { nameScene, SCENES } from './dashboard-scenes.ts'
import type { DashboardSite } from './dashboard-site.ts'
import { OVERLAY_SCENES } from './overlay-scenes.ts'
import { shrunk } from './page-pictures.ts'
import { WALL_SCENES } from './wall-scenes.ts'

/** Pictures of all screens with full lists and of what opens over them, for reviewers and for comparison. */
export const DASHBOARD_PICTURES = fileURLToPath(new URL('../fixtures/dashboard', import.meta.url))

export const DASHBOARD_LOOKS = [
  { name: 'desktop-light', size: { width: 1280, height: 1180 }, scheme: 'light', width: 640 },
  { name: 'phone-dark', size: { width: 390, height: 940 }, scheme: 'dark', width: 340 },
] as const

type PicturedScene = {
  /** of the file */
  name: string
  /** resolves when everything is shown */
  open(page: Page, site: DashboardSite): Promise<unknown>
}

/** What is pictured: the name of each screen, and how to open it. */
export const PICTURED_SCENES: readonly PicturedScene[] = [
  ...SCENES.filter(({ name }) => name === 'full').map(scene => ({
    name: nameScene(scene),
    open: (page: Page, site: DashboardSite) => page.goto(site.show(scene)),
  })),
  ...WALL_SCENES.filter(({ name }) => name === 'wall-token-full').map(scene => ({
    name: scene.name,
    open: (page: Page, site: DashboardSite) => page.goto(site.showPage(scene)),
  })),
  ...OVERLAY_SCENES.filter(({ isPictured }) => isPictured),
]

/** The name of a file, such as `monitors-id-full-phone-dark.webp`. */
export const namePicture = ({ name }: { name: string }, look: string): string => `${name}-${look}.webp`

/** Takes a picture of the open page when its fonts are there, `width` pixels wide. */
export async function takePicture(page: Page, width: number): Promise<Buffer> {
  await page.evaluate('document.fonts.ready')
  return shrunk(page, await page.screenshot({ animations: 'disabled' }), width)
}

/** Decodes a WebP in an empty tab. */
export async function decodePicture(tab: Page, webp: Buffer): Promise<PageImage> {
  const source = `data:image/webp;base64,${webp.toString('base64')}`
  const data = await tab.evaluate<string>(`(async () => {
    const image = new Image()
    image.src = ${JSON.stringify(source)}
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = image.naturalWidth
    canvas.height = image.naturalHeight
    canvas.getContext('2d').drawImage(image, 0, 0)
    return canvas.toDataURL('image/png')
  })()`)
  return decodePage(Buffer.from(data.slice(data.indexOf(',') + 1), 'base64'))
}
