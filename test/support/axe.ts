import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { STATE_ID } from '../../control-plane/dashboard/core/page-state.ts'
import { recordLine } from './test-record.ts'

/** The program of axe as text, for browsers that Playwright does not control. */
export const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** Without `preload`, which loads the styles once more for rules that are off. */
const RUN = 'axe.run(document, { resultTypes: ["violations"], preload: false, elementRef: false })'

/** Whether the page has axe, and whether it is a screen of the dashboard, with its record if it has one. */
const LOOK = `({
  hasAxe: "axe" in window,
  isScreen: document.getElementById("${STATE_ID}") !== null && !/^(Loading|Page not found|Not available) /.test(document.title),
})`

type Violation = { id: string; nodes: { html: string; failureSummary: string }[] }

/** Returns the findings of axe about the current page. A screen of the dashboard is recorded as "AXE /monitors/{}". */
export async function findAccessibilityProblems(page: Page): Promise<string[]> {
  const { hasAxe, isScreen } = (await page.evaluate(LOOK)) as { hasAxe: boolean; isScreen: boolean }
  if (!hasAxe) await loadAxe(page)
  if (isScreen) recordLine('AXE', page.url())
  const { violations } = (await page.evaluate(RUN)) as { violations: Violation[] }
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  )
}

/** Runs the program of axe in a page. In Chromium it is sent directly, because `page.evaluate` takes twice as long for it. */
async function loadAxe(page: Page): Promise<void> {
  if (page.context().browser()?.browserType().name() !== 'chromium') {
    await page.evaluate(AXE)
    return
  }
  const session = await page.context().newCDPSession(page)
  await session.send('Runtime.evaluate', { expression: AXE })
  await session.detach()
}
