// takes about 30 s
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { TEMPLATE_NAMES } from '../../control-plane/pages/core/types.ts'
import { renderTrustPage } from '../../control-plane/pages/public/trust/trust-page.tsx'
import { openBrowser } from '../browser/open-browser.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { readOverflow } from '../support/dashboard-browser.ts'
import { startPageSite } from '../support/page-site.ts'
import { emptyView, NOW, ordinaryView } from '../support/status-page-view.ts'
import { EMPTY, ORDINARY, trustWith, WITH_MISSES } from '../support/trust.ts'
import { openWatchedPage } from '../support/watched-page.ts'

const SIZES = [
  { width: 320, height: 640 },
  { width: 390, height: 844 },
  { width: 1280, height: 900 },
]

const site = await startPageSite(t)
const { newContext } = await openBrowser(t)

/** Shows the current page in every size and scheme. */
async function checkLooks(t: Test, page: Page, name: string): Promise<void> {
  await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true')
  for (const size of SIZES) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize(size)
      await page.emulateMedia({ colorScheme })
      const look = `${name}, ${size.width} px, ${colorScheme}`
      t.equal(await readOverflow(page), 0, `${look}: no horizontal scrolling`)
      t.same(await findAccessibilityProblems(page), [], `${look}: axe finds nothing`)
    }
  }
}

t.test('Every template is accessible on phones and desktops, in light and dark, with and without modules', async t => {
  const { page, complaints } = await openWatchedPage(await newContext(), site.origin)
  for (const template of TEMPLATE_NAMES) {
    const ordinary = site.show(ordinaryView({ template, logoUrl: '/status/northwind/logo?v=1', staleSince: NOW }))
    for (const query of ['', '?bare']) {
      await page.goto(ordinary + query)
      await checkLooks(t, page, template + query)
    }
    await page.goto(site.show(emptyView({ template })))
    await checkLooks(t, page, `${template}, empty`)
  }
  t.same(complaints, [])
})

t.test('The trust page is accessible on phones and desktops, in light and dark', async t => {
  const { page, complaints } = await openWatchedPage(await newContext(), site.origin)
  for (const [state, facts] of Object.entries({ EMPTY, ORDINARY, WITH_MISSES })) {
    await page.goto(site.serve(renderTrustPage('status.example.com', trustWith(facts))))
    await checkLooks(t, page, state)
  }
  t.same(complaints, [])
})
