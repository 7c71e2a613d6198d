import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { shareBrowser } from '../support/browser.ts'
import type { Teardown } from '../support/teardown.ts'
import { watchPage } from '../support/watched-page.ts'

/** Only a hanging browser needs this long, also on a busy machine. */
const LIMIT_MS = 120_000
const DEFAULT_VIEWPORT = { width: 1280, height: 720 }
/** Every control plane serves it, and it has no script. */
const EMPTY_PATH = '/healthz'
const LISTENED = [
  'console',
  'pageerror',
  'dialog',
  'request',
  'requestfinished',
  'requestfailed',
  'response',
  'download',
]

type Tab = { context: BrowserContext; page: Page; isChangedForGood: boolean }
type TabOptions = Pick<BrowserContextOptions, 'viewport' | 'colorScheme' | 'reducedMotion'> & {
  timezoneId?: string
  ignoreHTTPSErrors?: boolean
  javaScriptEnabled?: boolean
}

/** Opens contexts and tabs of the shared browser, with long timeouts, until the end of the test. */
export async function openBrowser(t: Teardown) {
  const browser = await shareBrowser()
  const newContext = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext(options)
    t.teardown(() => context.close())
    context.setDefaultTimeout(LIMIT_MS)
    return context
  }
  const idle = new Map<string, Tab[]>()
  const takeTab = async (contextOptions: object): Promise<Tab> => {
    const known = idle.get(JSON.stringify(contextOptions))?.pop()
    if (known) return known
    const context = await newContext(contextOptions)
    return noteLastingChanges({ context, page: await context.newPage(), isChangedForGood: false })
  }
  /**
   * A watched tab for a test of the dashboard at `origin`, without cookies and storage. The next test of the file with the
   * same options gets the same tab, because a new one takes more than the half of what a test takes. A test that installs a
   * clock, a script or a route keeps its tab for itself; a fixed time (`clock.setFixedTime`) remains.
   */
  const openTab = async (
    t: Teardown,
    origin: string,
    { viewport, colorScheme, reducedMotion, ...contextOptions }: TabOptions = {},
  ) => {
    const tab = await takeTab(contextOptions)
    const { context, page } = tab
    t.teardown(async () => {
      if (tab.isChangedForGood || !(await clearTab(tab, origin))) return context.close()
      const key = JSON.stringify(contextOptions)
      idle.set(key, [...(idle.get(key) ?? []), tab])
    })
    await page.setViewportSize(viewport ?? DEFAULT_VIEWPORT)
    await page.emulateMedia({
      ...{ media: null, forcedColors: null },
      ...{ colorScheme: colorScheme ?? 'light', reducedMotion: reducedMotion ?? 'no-preference' },
    })
    return { context, ...watchPage(page, origin) }
  }
  return { newContext, openTab }
}

/** Notes the calls whose effect on a tab cannot be taken back. */
function noteLastingChanges(tab: Tab): Tab {
  const { context, page } = tab
  const note = <Name extends string>(object: Record<Name, (...args: never[]) => unknown>, names: Name[]) => {
    for (const name of names) {
      const call = object[name].bind(object)
      object[name] = (...args) => {
        tab.isChangedForGood = true
        return call(...args)
      }
    }
  }
  note(context.clock, ['install'])
  note(context, ['addInitScript', 'route', 'setOffline', 'grantPermissions'])
  note(page, ['addInitScript', 'route'])
  return tab
}

/** Ends the page, and removes what a test left. False: the tab cannot be used again. */
async function clearTab({ context, page }: Tab, origin: string): Promise<boolean> {
  if (page.isClosed() || !page.url().startsWith(`${origin}/`)) return false
  for (const event of LISTENED) page.removeAllListeners(event)
  for (const other of context.pages()) if (other !== page) await other.close()
  const answer = await page.goto(origin + EMPTY_PATH).catch(() => null)
  if (answer === null) return false
  await context.clearCookies()
  await page.evaluate('localStorage.clear(), sessionStorage.clear()')
  await page.mouse.move(0, 0)
  return true
}
