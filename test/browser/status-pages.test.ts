import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { h } from 'preact'
import t from 'tap'
import { renderDocument } from '../../control-plane/foundation/web/html/document.tsx'
import { sanitizeCss } from '../../control-plane/pages/core/custom-css/css-sanitizer.ts'
import { TEMPLATE_NAMES } from '../../control-plane/pages/core/types.ts'
import { CSS_ATTACKS, TEXT_ATTACKS, withHostileText } from '../support/attacks.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { shareBrowser } from '../support/browser.ts'
import { PICTURES, pictureNames, writePictures } from '../support/page-pictures.ts'
import { startPageSite } from '../support/page-site.ts'
import { emptyView, NOW, ordinaryView } from '../support/status-page-view.ts'
import { waitFor } from '../support/wait.ts'
import { openWatchedPage } from '../support/watched-page.ts'
import { openBrowser } from './open-browser.ts'

const PHONE = { width: 390, height: 844 }
const DESKTOP = { width: 1280, height: 900 }

const site = await startPageSite(t)
const { newContext } = await openBrowser(t)

const measureOverflow = (page: Page) =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')

/** Waits until the page is drawn and its events have arrived. */
const settled = (page: Page) =>
  page.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))')

const openAll = (page: Page) => page.evaluate('for (const d of document.querySelectorAll("details")) d.open = true')

const showPage = (template: (typeof TEMPLATE_NAMES)[number]) =>
  site.show(ordinaryView({ template, logoUrl: '/status/northwind/logo?v=1', staleSince: NOW }))

t.test('Every template fits phones and desktops with and without modules, and is accessible on phones', async t => {
  // test/long/pages-accessibility.test.ts has the other sizes and schemes
  const context = await newContext({ colorScheme: 'dark' })
  t.teardown(() => context.close())
  const { page, complaints } = await openWatchedPage(context, site.origin)
  for (const template of TEMPLATE_NAMES) {
    for (const query of ['?bare', '']) {
      await page.goto(showPage(template) + query)
      for (const size of [DESKTOP, PHONE]) {
        await page.setViewportSize(size)
        const look = `${template}${query}, ${size.width} px`
        t.equal(await measureOverflow(page), 0, `${look}: no horizontal scrolling`)
        await openAll(page)
        t.equal(await measureOverflow(page), 0, `${look}: no horizontal scrolling with all details open`)
      }
    }
    t.same(await findAccessibilityProblems(page), [], `${template}: axe finds nothing`)
  }
  t.same(complaints, [])
})

t.test('The menu to subscribe is on the screen of a phone, also below a long name', async t => {
  const context = await newContext({ viewport: { width: 360, height: 740 } })
  t.teardown(() => context.close())
  const { page } = await openWatchedPage(context, site.origin)
  const edges = (selector: string) =>
    page.evaluate<[number, number]>(
      `(({ left, right }) => [left, right])(document.querySelector('${selector}').getBoundingClientRect())`,
    )
  // the template for developers has links instead
  for (const template of TEMPLATE_NAMES.filter(name => name !== 'developer')) {
    for (const name of ['Northwind', 'Northwind Traders Platform Status']) {
      await page.goto(site.show(ordinaryView({ template, name, logoUrl: null })))
      await page.locator('.subscribe > summary').click()
      const [left, right] = await edges('.subscribe > ul')
      t.ok(left >= 0 && right <= 360, `${template}, ${name}: ${left} to ${right}`)
    }
  }
})

t.test('axe finds problems such as low contrast of custom CSS', async t => {
  const page = await (await newContext({ viewport: PHONE })).newPage()
  t.teardown(() => page.close())
  await page.goto(site.show(emptyView({ customCss: '.page .quiet{color:#ccc}' })))
  t.match((await findAccessibilityProblems(page)).join(), /color-contrast/)
})

t.test('Every template works without JavaScript, and its days can be reached by keyboard', async t => {
  const context = await newContext({ javaScriptEnabled: false, viewport: PHONE })
  t.teardown(() => context.close())
  const { page, complaints } = await openWatchedPage(context, site.origin)
  for (const template of TEMPLATE_NAMES) {
    await page.goto(showPage(template))
    t.equal(await measureOverflow(page), 0, `${template}: no horizontal scrolling`)
    const days = page.locator('.days').first()
    await days.locator('summary').focus()
    await page.keyboard.press('Enter')
    await days.getByText('Website is down').waitFor()
    await page
      .locator('.subscribe, nav')
      .first()
      .getByText('RSS', { exact: false })
      .first()
      .waitFor({ state: 'attached' })
    t.match(await page.locator('#updated').textContent(), /UTC|Z/, `${template}: times are marked as UTC`)
  }
  t.same(complaints, [])
})

t.test('An empty page is accessible', async t => {
  const context = await newContext({ viewport: PHONE, colorScheme: 'dark' })
  t.teardown(() => context.close())
  const { page, complaints } = await openWatchedPage(context, site.origin)
  for (const template of TEMPLATE_NAMES) {
    await page.goto(site.show(emptyView({ template })))
    t.same(await findAccessibilityProblems(page), [], template)
    t.equal(await measureOverflow(page), 0, template)
  }
  t.same(complaints, [])
})

t.test('Hostile texts have no effect in any field of any template', async t => {
  const context = await newContext({ viewport: PHONE })
  t.teardown(() => context.close())
  const { page, complaints } = await openWatchedPage(context, site.origin)
  const sections = ordinaryView().sections.slice(1, 3)
  for (const template of TEMPLATE_NAMES) {
    await page.goto(site.show(withHostileText(ordinaryView({ template, sections }), TEXT_ATTACKS.join(' '))))
    await openAll(page)
    await page.locator('.bar[role]').first().hover()
    t.equal(await page.evaluate('window.hit'), undefined, template)
    t.equal(await page.locator('script').count(), 1, `${template}: only the script of the page`)
    t.equal(await page.locator('iframe, base, form, main img, [onerror], [onload]').count(), 0, template)
    t.equal(await measureOverflow(page), 0, `${template}: no horizontal scrolling with long words`)
  }
  t.same(complaints, [])
})

t.test('Hostile CSS is refused or has no effect', async t => {
  const context = await newContext({ viewport: PHONE })
  t.teardown(() => context.close())
  const { page, complaints } = await openWatchedPage(context, site.origin)
  for (const attack of CSS_ATTACKS) {
    const made = sanitizeCss(attack)
    if ('problem' in made) continue
    await page.goto(site.show(emptyView({ customCss: made.css })))
    t.equal(await page.evaluate('window.hit'), undefined, attack)
    t.equal(await page.locator('script').count(), 1, `${attack}: only the script of the page`)
  }
  t.same(complaints, [])
})

t.test('Without sanitizing, the policy of the page still blocks requests and scripts of CSS', async t => {
  const context = await newContext({ viewport: PHONE })
  t.teardown(() => context.close())
  const { page, complaints } = await openWatchedPage(context, site.origin)
  const body = h('div', { class: 'page' }, h('h1', null, 'x'))
  await page.goto(site.serve(renderDocument({ lang: 'en', title: 'x', styles: CSS_ATTACKS, scripts: [], body })))
  t.equal(await page.evaluate('window.hit'), undefined)
  t.equal(await page.locator('style').count(), CSS_ATTACKS.length, 'no style closes its element')
  t.same(
    complaints.filter(complaint => !complaint.startsWith('console: ')),
    [],
  )
})

t.test('Custom CSS overrides the template and cannot cover content outside the page', async t => {
  const made = sanitizeCss('h1{color:rgb(1,2,3)} body{padding-top:77px} .about{position:absolute;inset:0}')
  const page = await (await newContext({ viewport: DESKTOP })).newPage()
  t.teardown(() => page.close())
  await page.goto(site.show(ordinaryView({ customCss: 'css' in made ? made.css : '' })))
  const readStyle = (selector: string, name: string) =>
    page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${name}`)
  t.equal(await readStyle('h1', 'color'), 'rgb(1, 2, 3)')
  t.equal(await readStyle('.page', 'paddingTop'), '77px')
  t.equal(await readStyle('.page', 'contain'), 'layout paint', 'an element of any position stays inside the page')
})

t.test('An open page shows changes without a reload and keeps the other parts', async t => {
  const context = await newContext({ viewport: DESKTOP })
  t.teardown(() => context.close())
  const { page, complaints } = await openWatchedPage(context, site.origin)
  await page.clock.install()
  const ordinary = ordinaryView()
  // another incident of the same day, so that the days with incidents stay the same
  const { startedAt } = ordinary.openIncidents[0]!
  const pastIncidents = [{ ...ordinary.pastIncidents[0]!, startedAt, resolvedAt: startedAt }, ...ordinary.pastIncidents]
  await page.goto(site.show({ ...ordinary, pastIncidents }))
  await page.locator('.group > summary').last().click()
  await page.locator('.days > summary').first().focus()
  await page.evaluate('document.querySelector("#past").mark = document.querySelector("#past .day").mark = true')
  const sentence = 'All systems are operational'
  site.show(ordinaryView({ openIncidents: [], pastIncidents, overall: { status: 'operational', sentence } }))
  await page.clock.fastForward(60_000)
  await page.getByText(sentence).waitFor()
  t.equal(await page.locator('#open').textContent(), '', 'the incident is resolved')
  t.equal(await page.evaluate('document.querySelector("#past .day").mark'), true, 'unchanged parts are not touched')
  t.equal(await page.locator('.group').last().getAttribute('open'), '', 'open details stay open')

  const looks = () => site.asked.filter(path => path === '/status/northwind').length
  await page.evaluate('Object.defineProperty(document, "hidden", { value: true, configurable: true })')
  const before = looks()
  await page.clock.fastForward(300_000)
  t.equal(looks(), before, 'a hidden page sends no request')

  await page.evaluate('delete document.hidden; document.dispatchEvent(new Event("visibilitychange"))')
  await waitFor(() => looks() === before + 1, { label: 'a request when the page becomes visible' })
  site.show(ordinaryView({ template: 'modern' }))
  await page.clock.fastForward(60_000)
  await page.locator('.page.modern').waitFor()
  t.same(complaints, [], 'another template reloads the page')
})

t.test('Past incidents appear on an open page that had no days to show', async t => {
  const context = await newContext({ viewport: DESKTOP })
  t.teardown(() => context.close())
  const { page } = await openWatchedPage(context, site.origin)
  await page.clock.install()
  const [open] = ordinaryView().openIncidents
  // open for longer than the days that are shown
  const openIncidents = [{ ...open!, startedAt: '2026-01-01T00:00:00.000Z', resolvedAt: null }]
  await page.goto(site.show(ordinaryView({ openIncidents, pastIncidents: [] })))
  const past = page.locator('#past')
  t.equal(await past.isVisible(), false)
  site.show(ordinaryView())
  await page.clock.fastForward(60_000)
  await past.locator('.day').first().waitFor()
  t.equal(await past.getAttribute('aria-labelledby'), 'past-title')
  site.show(ordinaryView({ openIncidents, pastIncidents: [] }))
  await page.clock.fastForward(60_000)
  await past.waitFor({ state: 'hidden' })
  t.same(await past.getAttribute('aria-labelledby'), null)
})

t.test('A new time alone does not change the part that screen readers announce', async t => {
  const context = await newContext({ viewport: DESKTOP })
  t.teardown(() => context.close())
  const { page } = await openWatchedPage(context, site.origin)
  await page.clock.install()
  const view = ordinaryView({ template: 'modern', at: '2026-11-01T12:00:00.000Z' })
  await page.goto(site.show(view))
  await page.getByText('12:00').first().waitFor()
  await page.evaluate('document.querySelector("[role=status] .sentence").mark = true')
  const isMarked = () => page.evaluate('document.querySelector("[role=status] .sentence").mark === true')
  site.show({ ...view, at: '2026-11-01T12:01:00.000Z' })
  await page.clock.fastForward(60_000)
  await page.locator('.as-of').getByText('12:01').waitFor()
  t.equal(await isMarked(), true)
  const overall = { status: 'outage' as const, sentence: 'All systems are down' }
  site.show({ ...view, at: '2026-11-01T12:02:00.000Z', overall })
  await page.clock.fastForward(60_000)
  await page.locator('[role=status]').getByText('All systems are down').waitFor()
  await page.locator('.as-of').getByText('12:02').waitFor()
  t.equal(await isMarked(), false)
})

t.test('An open page that cannot be refreshed says so, until it can be', async t => {
  const context = await newContext({ viewport: DESKTOP })
  t.teardown(() => context.close())
  const { page } = await openWatchedPage(context, site.origin)
  await page.clock.install()
  const path = site.show(ordinaryView())
  await page.goto(path)
  const notice = page.getByText('This page could not be updated. Its content is from')
  let refused = 0
  await page.route(`**${path}`, route => {
    refused++
    return route.fulfill({ status: 503, body: '' })
  })
  await page.clock.fastForward(60_000)
  await waitFor(() => refused === 1, { label: 'the first refresh' })
  t.equal(await notice.count(), 0, 'one failure may be a moment without a network')
  await page.clock.fastForward(60_000)
  await notice.waitFor()
  await page.unroute(`**${path}`)
  await page.clock.fastForward(60_000)
  await notice.waitFor({ state: 'detached' })
})

t.test('Times are in the time zone of the reader, and mouse and keys show the tooltip of a day', async t => {
  const context = await newContext({ viewport: DESKTOP, timezoneId: 'Asia/Tokyo' })
  t.teardown(() => context.close())
  const { page, complaints } = await openWatchedPage(context, site.origin)
  // each template draws its bars and formats its times differently
  for (const template of ['minimal', 'terminal', 'clean', 'developer'] as const) {
    await page.goto(site.show(ordinaryView({ template })))
    const began = (await page.locator('#open .meta time').textContent()) ?? ''
    t.match(began, template === 'developer' ? /^2026-11-21T12:41:30Z$/ : /^21 Nov,? 21:41 (GMT\+9|JST)$/, template)
    const bar = page.locator('.bar[role]').first()
    await bar.scrollIntoViewIfNeeded()
    await settled(page)
    const box = (await bar.boundingBox())!
    await page.mouse.move(box.x + (box.width * 31.5) / 90, box.y + box.height / 2)
    t.match(
      await page.locator('.tip').textContent(),
      /24 Sept? 2026 Outage 14 minutes down\s*Website is down/,
      template,
    )
    await page.locator('summary:has(> .bar)').first().focus()
    await settled(page)
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('ArrowLeft')
    t.match(await page.locator('.tip').textContent(), /20 Nov 2026 Operational/, template)
    await page.keyboard.press('Escape')
    t.notOk(await page.locator('.tip').isVisible(), template)
  }
  t.same(complaints, [])
})

/**
 * After an intended change: `PICKET_WRITE_FIXTURES=1 node --import tsx test/browser/status-pages.test.ts`, and check
 * every picture. The pictures are not compared, because fonts differ between machines.
 */
t.test('Every template has a small picture for reviewers', async t => {
  if (process.env.PICKET_WRITE_FIXTURES === '1') await writePictures(await shareBrowser(), site)
  for (const name of pictureNames) {
    const { size } = statSync(join(PICTURES, name))
    t.ok(size > 2_000 && size <= 30_720, `${name} is ${size} bytes`)
  }
})
