import type { BrowserContext, Locator, Page } from 'playwright-core'
import { SESSION_COOKIE } from '../../control-plane/accounts/sessions/cookie.ts'
import { waitFor } from './wait.ts'

/** A visible page reads again after this time. */
const REFRESH_MS = 15_000

/** Signs a person in by the cookie of a session on `localhost`, where browsers accept it without TLS. */
export const addSession = (context: BrowserContext, token: string): Promise<void> =>
  context.addCookies([{ name: SESSION_COOKIE, value: token, url: 'https://localhost/', secure: true }])

/** How much of a page an error contains. */
const MAX_SHOWN = 4_000

/**
 * Moves the clock of a page (`page.clock.install` before it is opened) from read to read until `condition` holds. The page is
 * not loaded again.
 */
export async function readUntil(page: Page, condition: () => Promise<boolean>, label: string): Promise<void> {
  const check = async () => {
    if (await condition()) return true
    await page.clock.fastForward(REFRESH_MS)
    return condition()
  }
  try {
    await waitFor(check, { label, everyMs: 250 })
  } catch (error) {
    const shown = await readText(page.locator('body')).catch(() => 'nothing that can be read')
    throw new Error(`${(error as Error).message}; the page shows: ${shown.slice(0, MAX_SHOWN)}`, { cause: error })
  }
}

/** Holds the requests of a page that change something, until the returned function is called. */
export async function holdChanges(page: Page): Promise<() => void> {
  let release = () => {}
  const isReleased = new Promise<void>(resolve => {
    release = resolve
  })
  await page.route('**/api/v1/**', async route => {
    if (route.request().method() !== 'GET') await isReleased
    await route.continue()
  })
  return release
}

/**
 * Runs a script in a page in the moment in which a condition (a script too) first holds: before the page is painted, which is
 * also before effects. Resolves when the effects of that moment have run. Call it before the change that is awaited.
 */
export const runAtOnce = (page: Page, condition: string, script: string): Promise<void> =>
  page.evaluate(`new Promise(done => {
    const look = () => {
      if (!(${condition})) return
      observer.disconnect()
      ${script}
      requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))
    }
    const observer = new MutationObserver(look)
    observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
  })`)

/** A script that types into a field, or chooses an option. `selector`: without double quotes. */
export const typeScript = (selector: string, text: string): string => `
  const field = document.querySelector("${selector}")
  field.value = ${JSON.stringify(text)}
  for (const name of ['input', 'change']) field.dispatchEvent(new Event(name, { bubbles: true }))`

/**
 * Notes the text or the value of what has the focus as soon as an element matches, before the next frame. `key` is pressed then.
 * Returns the function that waits for it.
 */
export async function noteFocusAt(page: Page, selector: string, key?: string): Promise<() => Promise<string>> {
  await page.locator('body').evaluate(
    (body, [selector, key]) => {
      const page = body.ownerDocument
      const noted = new Promise<string | undefined>(resolve => {
        const observer = new MutationObserver(() => {
          if (!page.querySelector(selector!)) return
          observer.disconnect()
          if (key) page.dispatchEvent(new KeyboardEvent('keydown', { key }))
          const focused = page.activeElement
          resolve(focused instanceof HTMLInputElement ? focused.value : focused?.textContent)
        })
        observer.observe(body, { childList: true, subtree: true, attributes: true })
      })
      Object.assign(page.defaultView!, { noted })
    },
    [selector, key],
  )
  return () => page.evaluate('noted')
}

/** The text of an element, with a space between its parts. */
export const readText = async (locator: Locator): Promise<string> => {
  const parts = await locator.evaluate(element => {
    const texts: string[] = []
    const walker = element.ownerDocument.createTreeWalker(element, 4)
    while (walker.nextNode()) texts.push(walker.currentNode.nodeValue ?? '')
    return texts
  })
  return parts.join(' ').replace(/\s+/g, ' ').trim()
}

/** The texts of the cells of a table, row by row. */
export const readRows = (page: Page, selector: string): Promise<string[][]> =>
  page
    .locator(`${selector} tbody tr`)
    .evaluateAll(rows => rows.map(row => [...row.children].map(cell => cell.textContent ?? '')))

/** The number of pixels by which a page is wider than its window. */
export const readOverflow = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
