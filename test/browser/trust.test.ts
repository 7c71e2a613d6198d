import t from 'tap'
import { renderTrustPage } from '../../control-plane/pages/public/trust/trust-page.tsx'
import { findAccessibilityProblems } from '../support/axe.ts'
import { readOverflow } from '../support/dashboard-browser.ts'
import { startPageSite } from '../support/page-site.ts'
import { EMPTY, ORDINARY, trustWith, WITH_MISSES } from '../support/trust.ts'
import { openWatchedPage } from '../support/watched-page.ts'
import { openBrowser } from './open-browser.ts'

const SIZES = [
  { width: 1280, height: 900 },
  { width: 320, height: 640 },
  { width: 390, height: 844 },
]

t.test('The trust page fits phones and desktops, and is accessible on phones, in dark', async t => {
  const site = await startPageSite(t)
  const { newContext } = await openBrowser(t)
  // axe is a script of the test; the page itself has no script. test/long/pages-accessibility.test.ts has the other looks.
  const context = await newContext({ colorScheme: 'dark' })
  t.teardown(() => context.close())
  const { page, complaints } = await openWatchedPage(context, site.origin)
  for (const [state, facts] of Object.entries({ EMPTY, ORDINARY, WITH_MISSES })) {
    await page.goto(site.serve(renderTrustPage('status.example.com', trustWith(facts))))
    for (const size of SIZES) {
      await page.setViewportSize(size)
      t.equal(await readOverflow(page), 0, `${state}, ${size.width} px: no horizontal scrolling`)
    }
    t.same(await findAccessibilityProblems(page), [], `${state}: axe finds nothing`)
  }
  t.same(complaints, [])
})
