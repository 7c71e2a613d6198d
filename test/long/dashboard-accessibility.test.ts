// takes about 150 s
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { openBrowser } from '../browser/open-browser.ts'
import { TEXT_ATTACKS } from '../support/attacks.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { readOverflow } from '../support/dashboard-browser.ts'
import { FULL, nameScene, SCENES } from '../support/dashboard-scenes.ts'
import { startDashboardSite } from '../support/dashboard-site.ts'
import { fillWithText } from '../support/hostile-answers.ts'
import { OVERLAY_SCENES } from '../support/overlay-scenes.ts'
import { waitFor } from '../support/wait.ts'
import { WALL_SCENES } from '../support/wall-scenes.ts'
import { openWatchedPage } from '../support/watched-page.ts'

const SIZES = [
  { width: 390, height: 844 },
  { width: 1280, height: 900 },
]

/** The page of embeds shows the page's own badge and frame. The site of this test refuses to be framed. */
const OWN_FRAME =
  /^console: (Framing 'http:\/\/127\.0\.0\.1:\d+\/' violates|Failed to execute 'postMessage' on 'DOMWindow')/
const withoutOwnFrame = (complaints: string[]) => complaints.filter(text => !OWN_FRAME.test(text))

/** The requests that a scene with errors refuses, as browsers report them. */
const REFUSED_REQUEST = /^console: Failed to load resource: the server responded with a status of (400|503) /

const site = await startDashboardSite(t)
const { newContext } = await openBrowser(t)

/** Runs axe on the open page in every size and colour scheme. `extra`: another check of each. */
async function checkLooks(
  t: Test,
  page: Page,
  name: string,
  extra: (look: string) => Promise<unknown> = async () => {},
) {
  for (const size of SIZES) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize(size)
      await page.emulateMedia({ colorScheme })
      const look = `${name}, ${size.width} px, ${colorScheme}`
      t.equal(await readOverflow(page), 0, `${look}: no horizontal scrolling`)
      await extra(look)
      t.same(await findAccessibilityProblems(page), [], `${look}: axe finds nothing`)
    }
  }
}

t.test('Every screen is accessible on phones and desktops, in light and dark, full, empty and with errors', async t => {
  // colours that change slowly would be measured on their way
  const context = await newContext({ reducedMotion: 'reduce' })
  t.teardown(() => context.close())
  const { page, complaints } = await openWatchedPage(context, site.origin)
  const pages = [
    ...SCENES.map(scene => ({ name: nameScene(scene), show: () => site.show(scene) })),
    ...WALL_SCENES.map(scene => ({ name: scene.name, show: () => site.showPage(scene) })),
  ]
  for (const { name, show } of pages) {
    await page.goto(show())
    await page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    await checkLooks(t, page, name)
  }
  t.same(withoutOwnFrame(complaints), [])
})

t.test('The drawer of a check, the palette and the dialog of changes are accessible in the same ways', async t => {
  const context = await newContext({ reducedMotion: 'reduce', timezoneId: 'UTC' })
  t.teardown(() => context.close())
  const { page, complaints } = await openWatchedPage(context, site.origin)
  for (const { name, open } of OVERLAY_SCENES) {
    await open(page, site)
    const overlay = page.locator('.drawer, dialog[open]')
    await overlay.locator('details').evaluateAll(all => {
      for (const one of all) (one as HTMLDetailsElement).open = true
    })
    const isLoaded = async () => (await page.locator('dialog details > pre').count()) === 0
    await waitFor(isLoaded, { label: 'the API call in all forms' })
    // it has scroll bars of its own
    await checkLooks(t, page, name, async look => {
      const hidden = await overlay.evaluate(element => element.scrollWidth - element.clientWidth)
      t.equal(hidden, 0, `${look}: nothing in it scrolls sideways`)
    })
    // reads that are repeated would be refused during the next scene
    await page.goto('about:blank')
    const refused = name.endsWith('-error') ? complaints.filter(text => REFUSED_REQUEST.test(text)) : []
    t.same(complaints.splice(0), refused, `${name}: only requests that are refused`)
  }
})

t.test(
  'On paper every screen has its content without controls, and forced colours leave every status visible',
  async t => {
    const context = await newContext({ viewport: SIZES[1]!, colorScheme: 'dark', reducedMotion: 'reduce' })
    t.teardown(() => context.close())
    const { page } = await openWatchedPage(context, site.origin)
    for (const scene of SCENES.filter(({ name }) => name === 'full')) {
      const { path } = scene.screen
      await page.goto(site.show(scene))
      await page.emulateMedia({ media: 'print', forcedColors: 'none' })
      // the days of the calendar are its content
      t.equal(
        await page.locator('button:not(.day-label):visible, .frame > header:visible').count(),
        0,
        `${path}: no controls`,
      )
      t.equal(await page.locator('h1:visible').count(), 1, `${path}: the heading`)
      const background = 'getComputedStyle(document.documentElement).getPropertyValue("--ground").trim()'
      t.equal(await page.evaluate(background), '#fff', `${path}: light`)
      await page.emulateMedia({ media: 'screen', forcedColors: 'active' })
      const hidden =
        await page.evaluate(`[...document.querySelectorAll('main :is(.state svg, .strip rect)')].filter(shape => {
      const { fill, stroke } = getComputedStyle(shape)
      const ground = getComputedStyle(document.body).backgroundColor
      return shape.checkVisibility() && [fill, stroke].every(ink => ink === 'none' || ink === ground)
    }).length`)
      t.equal(hidden, 0, `${path}: every status is visible`)
    }
  },
)

t.test('Hostile and long texts have no effect on any screen, and no screen scrolls sideways on a phone', async t => {
  const context = await newContext({ viewport: SIZES[0]! })
  t.teardown(() => context.close())
  const { page, complaints } = await openWatchedPage(context, site.origin)
  const answers = fillWithText(FULL.answers, TEXT_ATTACKS.join(' '))!
  for (const address of new Set(SCENES.map(scene => scene.address))) {
    await page.goto(site.show({ address, state: { ...FULL, answers } }))
    await page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
    t.equal(await page.evaluate('window.hit'), undefined, address)
    const added = page.locator('main :is(script, iframe:not(.live-embed > iframe), style, base, link, meta)')
    t.equal(await added.count(), 0, address)
    t.equal(await page.locator('[onerror], [onload], [onfocus], [style]').count(), 0, address)
    t.equal(await readOverflow(page), 0, `${address}: no horizontal scrolling`)
  }
  t.same(withoutOwnFrame(complaints), [])
})
