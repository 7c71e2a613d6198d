import type { BrowserContextOptions } from 'playwright-core'
import { shareBrowser } from '../support/browser.ts'
import type { Teardown } from '../support/teardown.ts'

/** Only a hanging browser needs this long, also on a busy machine. */
const LIMIT_MS = 120_000

/** Opens contexts of the shared browser, with long timeouts, until the end of the test. */
export async function openBrowser(t: Teardown) {
  const browser = await shareBrowser()
  const newContext = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext(options)
    t.teardown(() => context.close())
    context.setDefaultTimeout(LIMIT_MS)
    return context
  }
  return { newContext }
}
