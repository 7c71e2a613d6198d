import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

/** The program of axe as text, for browsers that Playwright does not control. */
export const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** Without `preload`, which loads the styles once more for rules that are off. */
const RUN = 'axe.run(document, { resultTypes: ["violations"], preload: false, elementRef: false })'

type Violation = { id: string; nodes: { html: string; failureSummary: string }[] }

/** Returns the findings of axe about the current page. */
export async function findAccessibilityProblems(page: Page): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await loadAxe(page)
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
