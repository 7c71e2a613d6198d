/** A browser whose processor is four times slower than this machine's, with 9 Mbit/s, 60 ms and an empty cache. */
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { createSession } from '../../control-plane/accounts/sessions/actions.ts'
import { SESSION_COOKIE } from '../../control-plane/accounts/sessions/cookie.ts'
import { query, withPostgres } from '../../control-plane/foundation/platform/postgres/client.ts'
import { chromiumPath } from '../support/chromium-path.ts'
import type { Teardown } from '../support/teardown.ts'

const SLOWDOWN = 4
/** Lighthouse's "slow 4G" has a fifth of this. */
const NETWORK = { offline: false, latency: 60, downloadThroughput: 9_000_000 / 8, uploadThroughput: 9_000_000 / 8 }

export async function openBenchBrowser(t: Teardown): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--enable-precise-memory-info'],
  })
  t.teardown(() => browser.close())
  return browser
}

/** A session of the first user. */
export const signIn = (databaseUrl: string): Promise<string> =>
  withPostgres(databaseUrl, async db => {
    const [user] = await query<{ id: string }>(db, 'SELECT id FROM users ORDER BY id LIMIT 1')
    return (await db.transaction(tx => createSession(tx, user!.id))).token
  })

export async function openSlowPage(browser: Browser, token: string): Promise<[BrowserContext, Page]> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  await context.addCookies([
    { name: SESSION_COOKIE, value: token, domain: 'localhost', path: '/', secure: true, httpOnly: true },
  ])
  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN })
  await devtools.send('Network.enable')
  await devtools.send('Network.emulateNetworkConditions', NETWORK)
  return [context, page]
}

/** Waits until a condition holds in the page. Resolves to the time, in ms. A text, because the policy forbids `eval`. */
export const until = (page: Page, condition: string): Promise<number> =>
  page.evaluate(`new Promise(done => {
    const look = () => ${condition} ? done(Date.now()) : setTimeout(look, 10)
    look()
  })`)
