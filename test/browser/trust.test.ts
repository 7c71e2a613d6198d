import t from 'tap'
import { renderTrustPage } from '../../control-plane/pages/public/trust/trust-page.tsx'
import { AXE, findAccessibilityProblems } from '../support/axe.ts'
import { startPageSite } from '../support/page-site.ts'
import { EMPTY, ORDINARY, trustWith, WITH_MISSES } from '../support/trust.ts'
import { openWatchedPage } from '../support/watched-page.ts'
import { openBrowser } from './open-browser.ts'

const SIZES = [
  { width: 320, height: 640 },
  { width: 390, height: 844 },
  { width: 1280, height: 900 },
]

t.test('the page of the installation reads well on phones and desktops, in light and dark', async t => {
  const site = await startPageSite(t)
  const { newContext } = await openBrowser(t)
  // axe is a script of the test; the page has none
  const context = await newContext()
  t.teardown(() => context.close())
  const { page, complaints } = await openWatchedPage(context, site.origin)
  for (const [state, facts] of Object.entries({ EMPTY, ORDINARY, WITH_MISSES })) {
    await page.goto(site.serve(renderTrustPage('status.example.com', trustWith(facts))))
    await page.evaluate(AXE)
    for (const size of SIZES) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize(size)
        await page.emulateMedia({ colorScheme })
        const look = `${state}, ${size.width} px, ${colorScheme}`
        const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
        t.equal(await page.evaluate(overflow), 0, `${look}: nothing to scroll sideways`)
        t.same(await findAccessibilityProblems(page), [], `${look}: axe finds nothing`)
      }
    }
  }
  t.same(complaints, [])
})
