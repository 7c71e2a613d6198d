import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { shareBrowser } from '../support/browser.ts'
import type { Teardown } from '../support/teardown.ts'
import { watchPage } from '../support/watched-page.ts'

/** Only a hanging browser needs this long, also on a busy machine. */
const TIMEOUT_MS = 120_000
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

type Look = Pick<BrowserContextOptions, 'viewport' | 'colorScheme' | 'reducedMotion'>
/** What a tab has from its start. The time zone is UTC by default. */
type Kind = Pick<BrowserContextOptions, 'timezoneId' | 'javaScriptEnabled' | 'ignoreHTTPSErrors'> & {
  /** the clock of the page does not go on */
  hasFixedTime?: boolean
}
type Tab = { context: BrowserContext; page: Page; fixTime(): Promise<void>; isChangedForGood: boolean }

/** Tabs that no test uses, by kind. The test files of the process share them, because a new tab takes longer than most tests. */
const idle = new Map<string, Tab[]>()

/** Opens contexts and tabs of the shared browser, with long timeouts, until the end of the test. */
export async function openBrowser(t: Teardown) {
  const browser = await shareBrowser()
  const openContext = async (options: BrowserContextOptions) => {
    const context = await browser.newContext(options)
    context.setDefaultTimeout(TIMEOUT_MS)
    return context
  }
  const newContext = async (options: BrowserContextOptions = {}) => {
    const context = await openContext(options)
    t.teardown(() => context.close())
    return context
  }
  const createTab = async ({ hasFixedTime, ...options }: Kind): Promise<Tab> => {
    const context = await openContext(options)
    const page = await context.newPage()
    const setFixedTime = context.clock.setFixedTime.bind(context.clock)
    const fixTime = async () => void (hasFixedTime && (await setFixedTime(Date.now())))
    return noteLastingChanges({ context, page, fixTime, isChangedForGood: false })
  }
  /**
   * A watched tab for a test of the dashboard at `origin`, without cookies and storage. Other tests get the same tab later,
   * unless this one installs a clock, a script or a route.
   */
  const openTab = async (
    t: Teardown,
    origin: string,
    { viewport, colorScheme, reducedMotion, ...options }: Look & Kind = {},
  ) => {
    const kind = { timezoneId: 'UTC', ...options }
    const key = JSON.stringify(kind)
    const tab = idle.get(key)?.pop() ?? (await createTab(kind))
    const { context, page } = tab
    t.teardown(async () => {
      if (tab.isChangedForGood || !(await clearTab(tab, origin))) return context.close()
      idle.set(key, [...(idle.get(key) ?? []), tab])
    })
    await page.setViewportSize(viewport ?? DEFAULT_VIEWPORT)
    await page.emulateMedia({
      ...{ media: null, forcedColors: null },
      ...{ colorScheme: colorScheme ?? 'light', reducedMotion: reducedMotion ?? 'no-preference' },
    })
    await tab.fixTime()
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
  note(context.clock, ['install', 'setFixedTime'])
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
