import type { Browser, CDPSession, Page } from 'playwright-core'
import { machine } from '../clock.ts'
import { type CaptureRequest, MAX_PICTURE_BYTES } from './capture-request.ts'

type Picture = { statusCode: number; contentType: string; bytes: Buffer }

const VIEWPORT = { width: 1280, height: 800 }
/** A page that is still loading after this time is captured as it is. */
const LOAD_TIMEOUT_MS = 6_000
/** Time reserved for the picture itself. */
const CAPTURE_TIME_MS = 2_500
const SETTLE_MS = 250
const JPEG_QUALITIES = [70, 30]

/**
 * Opens the page and captures it. Throws when the page does not answer, does not respond, or when the picture is too large
 * to be sent.
 */
export async function takePicture(browser: Browser, order: CaptureRequest, leftMs: () => number): Promise<Picture> {
  const context = await browser.newContext({
    viewport: VIEWPORT,
    acceptDownloads: false,
    serviceWorkers: 'block',
    permissions: [],
    locale: 'en-US',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  const cdp = await context.newCDPSession(page)
  await guardRequests(cdp, order)
  const statusCode = await open(page, order.url, leftMs)
  return { statusCode, ...(await captureViewport(cdp, order.format, leftMs())) }
}

async function open(page: Page, url: string, leftMs: () => number): Promise<number> {
  const answer = await page.goto(url, { waitUntil: 'commit', timeout: Math.max(1, leftMs() - CAPTURE_TIME_MS) })
  if (answer === null) throw new Error('the page did not answer')
  const loadWithinMs = Math.max(1, Math.min(LOAD_TIMEOUT_MS, leftMs() - CAPTURE_TIME_MS))
  await page.waitForLoadState('load', { timeout: loadWithinMs }).catch(() => {})
  await machine.pause(SETTLE_MS)
  return answer.status()
}

/**
 * Intercepts every request of the page, including each hop of a redirect. Only http(s), data, blob and about URLs are
 * allowed, and the check's headers are sent only to the check's origin.
 */
async function guardRequests(cdp: CDPSession, { url, headers }: CaptureRequest): Promise<void> {
  const { origin } = new URL(url)
  cdp.on('Fetch.requestPaused', ({ requestId, request }) => {
    const isAllowed = /^(https?|data|blob|about):/i.test(request.url)
    const isOwn = isAllowed && URL.canParse(request.url) && new URL(request.url).origin === origin
    const answer = isAllowed
      ? cdp.send('Fetch.continueRequest', { requestId, ...(isOwn && { headers: merged(request.headers, headers) }) })
      : cdp.send('Fetch.failRequest', { requestId, errorReason: 'AccessDenied' })
    answer.catch(() => {})
  })
  await cdp.send('Fetch.enable', { patterns: [{ urlPattern: '*', requestStage: 'Request' }] })
}

function merged(own: Record<string, string>, added: Record<string, string>): { name: string; value: string }[] {
  const names = new Set(Object.keys(added).map(name => name.toLowerCase()))
  const kept = Object.entries(own).filter(([name]) => !names.has(name.toLowerCase()))
  return [...kept, ...Object.entries(added)].map(([name, value]) => ({ name, value }))
}

async function captureViewport(
  cdp: CDPSession,
  format: CaptureRequest['format'],
  leftMs: number,
): Promise<Pick<Picture, 'contentType' | 'bytes'>> {
  // half size: small enough as PNG, and anti-aliasing does not affect the comparison
  const clip = { x: 0, y: 0, ...VIEWPORT, scale: format === 'png' ? 0.5 : 1 }
  for (const quality of JPEG_QUALITIES) {
    const options = format === 'png' ? { format, clip } : { format, clip, quality }
    const { data } = await within(leftMs, cdp.send('Page.captureScreenshot', options))
    const bytes = Buffer.from(data, 'base64')
    if (bytes.length <= MAX_PICTURE_BYTES) return { contentType: `image/${format}`, bytes }
  }
  throw new Error('the picture is too large')
}

/** Limits the capture: a page in an endless loop never returns a picture. */
async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let stop = () => {}
  const late = new Promise<never>((_resolve, reject) => {
    stop = machine.after(Math.max(1, ms), () => reject(new Error('the page does not respond')))
  })
  return Promise.race([work, late]).finally(stop)
}
