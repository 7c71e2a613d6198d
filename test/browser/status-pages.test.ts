import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { h } from 'preact'
import t from 'tap'
import { renderDocument } from '../../control-plane/foundation/web/html/document.tsx'
import { sanitizeCss } from '../../control-plane/pages/core/custom-css/css-sanitizer.ts'
import { TEMPLATE_NAMES } from '../../control-plane/pages/core/types.ts'
import { CSS_ATTACKS, TEXT_ATTACKS, withHostileText } from '../support/attacks.ts'
import { AXE, findAccessibilityProblems } from '../support/axe.ts'
import { PICTURES, pictureNames, writePictures } from '../support/page-pictures.ts'
import { startPageSite } from '../support/page-site.ts'
import { emptyView, NOW, ordinaryView } from '../support/status-page-view.ts'
import { waitFor } from '../support/wait.ts'
import { openWatchedPage } from '../support/watched-page.ts'
import { openBrowser } from './open-browser.ts'

const PHONE = { width: 390, height: 844 }
const DESKTOP = { width: 1280, height: 900 }
type Look = { size: typeof PHONE; scheme: 'light' | 'dark' }

/** Both sizes in both schemes: some as modules left the page, some as it stands there without them. */
const LOOKS: Record<string, Look[]> = {
  '': [
    { size: PHONE, scheme: 'light' },
    { size: DESKTOP, scheme: 'dark' },
  ],
  '?bare': [
    { size: PHONE, scheme: 'dark' },
    { size: DESKTOP, scheme: 'light' },
  ],
}

const site = await startPageSite(t)
const { browser, newContext } = await openBrowser(t)

const overflowOf = (page: Page) =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')

/** What was asked of the page is drawn, and its events have come. */
const settled = (page: Page) =>
  page.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))')

const openAll = (page: Page) => page.evaluate('for (const d of document.querySelectorAll("details")) d.open = true')

const pageOf = (template: (typeof TEMPLATE_NAMES)[number]) =>
  site.show(ordinaryView({ template, logoUrl: '/status/northwind/logo?v=1', staleSince: NOW }))

t.test('every template reads well on phones and desktops, in light and dark, with modules and without', async t => {
  const context = await newContext()
  t.teardown(() => context.close())
  const { page, complaints } = await openWatchedPage(context, site.origin)
  for (const template of TEMPLATE_NAMES) {
    for (const [query, looks] of Object.entries(LOOKS)) {
      await page.goto(pageOf(template) + query)
      await page.evaluate(AXE)
      for (const { size, scheme } of looks) {
        await page.setViewportSize(size)
        await page.emulateMedia({ colorScheme: scheme })
        const look = `${template}${query}, ${size.width} px, ${scheme}`
        t.equal(await overflowOf(page), 0, `${look}: nothing to scroll sideways`)
        await openAll(page)
        t.equal(await overflowOf(page), 0, `${look}: nor when all is open`)
        t.same(await findAccessibilityProblems(page), [], `${look}: axe finds nothing`)
      }
    }
  }
  t.same(complaints, [])
})

t.test('axe does find what is wrong, such as a customer’s pale letters', async t => {
  const page = await (await newContext({ viewport: PHONE })).newPage()
  t.teardown(() => page.close())
  await page.goto(site.show(emptyView({ customCss: '.page .quiet{color:#ccc}' })))
  await page.evaluate(AXE)
  t.match((await findAccessibilityProblems(page)).join(), /color-contrast/)
})

t.test('every template reads well without JavaScript, and its days are reached by keyboard', async t => {
  const context = await newContext({ javaScriptEnabled: false, viewport: PHONE })
  t.teardown(() => context.close())
  const { page, complaints } = await openWatchedPage(context, site.origin)
  for (const template of TEMPLATE_NAMES) {
    await page.goto(pageOf(template))
    t.equal(await overflowOf(page), 0, `${template}: nothing to scroll sideways`)
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
    t.match(await page.locator('#updated').textContent(), /UTC|Z/, `${template}: times say that they are UTC`)
  }
  t.same(complaints, [])
})

t.test('a page on which nothing stands yet reads well too', async t => {
  const context = await newContext({ viewport: PHONE, colorScheme: 'dark' })
  t.teardown(() => context.close())
  const { page, complaints } = await openWatchedPage(context, site.origin)
  for (const template of TEMPLATE_NAMES) {
    await page.goto(site.show(emptyView({ template })))
    await page.evaluate(AXE)
    t.same(await findAccessibilityProblems(page), [], template)
    t.equal(await overflowOf(page), 0, template)
  }
  t.same(complaints, [])
})

t.test('texts that attack do nothing in any field of any template', async t => {
  const context = await newContext({ viewport: PHONE })
  t.teardown(() => context.close())
  const { page, complaints } = await openWatchedPage(context, site.origin)
  const sections = ordinaryView().sections.slice(1, 3)
  for (const template of TEMPLATE_NAMES) {
    await page.goto(site.show(withHostileText(ordinaryView({ template, sections }), TEXT_ATTACKS.join(' '))))
    await openAll(page)
    await page.locator('.bar[role]').first().hover()
    t.equal(await page.evaluate('window.hit'), undefined, template)
    t.equal(await page.locator('script').count(), 1, `${template}: one script, ours`)
    t.equal(await page.locator('iframe, base, form, main img, [onerror], [onload]').count(), 0, template)
    t.equal(await overflowOf(page), 0, `${template}: nothing to scroll sideways, however long the words`)
  }
  t.same(complaints, [])
})

t.test('CSS that attacks is refused or does nothing', async t => {
  const context = await newContext({ viewport: PHONE })
  t.teardown(() => context.close())
  const { page, complaints } = await openWatchedPage(context, site.origin)
  for (const attack of CSS_ATTACKS) {
    const made = sanitizeCss(attack)
    if ('problem' in made) continue
    await page.goto(site.show(emptyView({ customCss: made.css })))
    t.equal(await page.evaluate('window.hit'), undefined, attack)
    t.equal(await page.locator('script').count(), 1, `${attack}: one script, ours`)
  }
  t.same(complaints, [])
})

t.test('were the CSS not made safe, the policy of the page would still let nothing out and run nothing', async t => {
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

t.test('CSS of a customer wins over the template, and cannot cover what is around the page', async t => {
  const made = sanitizeCss('h1{color:rgb(1,2,3)} body{padding-top:77px} .about{position:var(--p);--p:fixed;inset:0}')
  const page = await (await newContext({ viewport: DESKTOP })).newPage()
  t.teardown(() => page.close())
  await page.goto(site.show(ordinaryView({ customCss: 'css' in made ? made.css : '' })))
  const styleOf = (selector: string, name: string) =>
    page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${name}`)
  t.equal(await styleOf('h1', 'color'), 'rgb(1, 2, 3)')
  t.equal(await styleOf('.page', 'paddingTop'), '77px')
  t.equal(await styleOf('.page', 'contain'), 'layout paint', 'what is fixed is fixed to the page')
})

t.test('an open page shows what changes without a reload, and leaves the rest as it is', async t => {
  const context = await newContext({ viewport: DESKTOP })
  t.teardown(() => context.close())
  const { page, complaints } = await openWatchedPage(context, site.origin)
  await page.clock.install()
  await page.goto(site.show(ordinaryView()))
  await page.locator('.group > summary').last().click()
  await page.locator('.days > summary').first().focus()
  await page.evaluate('document.querySelector("#past").mark = document.querySelector("#past .day").mark = true')
  const sentence = 'All systems are operational'
  site.show(ordinaryView({ openIncidents: [], overall: { status: 'operational', sentence } }))
  await page.clock.fastForward(60_000)
  await page.getByText(sentence).waitFor()
  t.equal(await page.locator('#open').textContent(), '', 'the incident is over')
  t.equal(await page.evaluate('document.querySelector("#past .day").mark'), true, 'what is the same is not touched')
  t.equal(await page.locator('.group').last().getAttribute('open'), '', 'what was open stays open')

  const looks = () => site.asked.filter(path => path === '/status/northwind').length
  await page.evaluate('Object.defineProperty(document, "hidden", { value: true, configurable: true })')
  const before = looks()
  await page.clock.fastForward(300_000)
  t.equal(looks(), before, 'nobody looks, nothing is asked')

  await page.evaluate('delete document.hidden; document.dispatchEvent(new Event("visibilitychange"))')
  await waitFor(() => looks() === before + 1, { label: 'a look as soon as somebody does' })
  site.show(ordinaryView({ template: 'modern' }))
  await page.clock.fastForward(60_000)
  await page.locator('.page.modern').waitFor()
  t.same(complaints, [], 'another template is a new page')
})

t.test('times are the reader’s own, and a day of the bar tells about itself to mouse and keys', async t => {
  const context = await newContext({ viewport: DESKTOP, timezoneId: 'Asia/Tokyo' })
  t.teardown(() => context.close())
  const { page, complaints } = await openWatchedPage(context, site.origin)
  // each draws its bars and writes its times in a way of its own
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
 * After a change on purpose: `PICKET_WRITE_FIXTURES=1 node --import tsx test/browser/status-pages.test.ts`, and look at every
 * picture. They are for people: fonts differ by machine, so nothing is compared.
 */
t.test('there is a small picture of every template for reviewers', async t => {
  if (process.env.PICKET_WRITE_FIXTURES === '1') await writePictures(browser, site)
  for (const name of pictureNames) {
    const { size } = statSync(join(PICTURES, name))
    t.ok(size > 2_000 && size <= 30_720, `${name} is ${size} bytes`)
  }
})
