import type { BrowserContext, Page } from 'playwright-core'

type WatchedPage = {
  page: Page
  /** unexpected events: console messages, errors, dialogs, requests to other origins */
  complaints: string[]
}

/** A tab that records unexpected events. Requests to other origins than `origin` are recorded and blocked. */
export async function openWatchedPage(context: BrowserContext, origin: string): Promise<WatchedPage> {
  const page = await context.newPage()
  const complaints: string[] = []
  page.on('console', message => complaints.push(`console: ${message.text()}`))
  page.on('pageerror', error => complaints.push(`error: ${error.message}`))
  page.on('dialog', dialog => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.route(
    url => url.origin !== origin,
    route => {
      complaints.push(`request: ${route.request().url()}`)
      return route.abort()
    },
  )
  return { page, complaints }
}
