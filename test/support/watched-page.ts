import type { BrowserContext, Page, Request } from 'playwright-core'

type WatchedPage = {
  page: Page
  /** unexpected events: console messages, errors, dialogs, requests to other origins */
  complaints: string[]
}

/** A new tab that is watched. */
export const openWatchedPage = async (context: BrowserContext, origin: string): Promise<WatchedPage> =>
  watchPage(await context.newPage(), origin)

/** Records unexpected events of a tab, such as requests to other origins than `origin`. Browsers of tests reach no other host. */
export function watchPage(page: Page, origin: string): WatchedPage {
  const complaints: string[] = []
  page.on('console', message => complaints.push(`console: ${message.text()} ${message.location().url}`))
  page.on('pageerror', error => complaints.push(`error: ${error.message}`))
  page.on('dialog', dialog => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  // Listeners, because with `page.route` each request takes a detour and nothing comes from the browser's cache. What the
  // page's policy blocks is not sent.
  const complainIfSent = (request: Request) => {
    const { protocol, origin: to } = new URL(request.url())
    const isBlocked = !(request.failure()?.errorText ?? 'net::').startsWith('net::')
    if (protocol.startsWith('http') && to !== origin && !isBlocked) complaints.push(`request: ${request.url()}`)
  }
  page.on('requestfinished', complainIfSent)
  page.on('requestfailed', complainIfSent)
  return { page, complaints }
}
