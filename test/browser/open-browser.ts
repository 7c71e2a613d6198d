import { type BrowserContextOptions, chromium } from 'playwright-core'
import { chromiumPath } from '../support/browser.ts'
import type { Teardown } from '../support/teardown.ts'

/** Only a hanging browser needs this long, also on a busy machine. */
const LIMIT_MS = 120_000

/** A browser until the end of the test, with long timeouts. */
export async function openBrowser(t: Teardown) {
  const options = { executablePath: chromiumPath(), args: ['--no-sandbox'], timeout: LIMIT_MS }
  const browser = await chromium.launch(options)
  t.teardown(() => browser.close())
  const newContext = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext(options)
    context.setDefaultTimeout(LIMIT_MS)
    return context
  }
  return { browser, newContext }
}
