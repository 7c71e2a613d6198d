/** The load metrics of a status page with 50 components and 90 days in a real browser, measured as Lighthouse does. */
import { type Browser, chromium } from 'playwright-core'
import { TEMPLATE_NAMES, type TemplateName } from '../../control-plane/pages/core/types.ts'
import { renderPage } from '../../control-plane/pages/templates/document/render.ts'
import { chromiumPath } from '../support/chromium-path.ts'
import { type PageSite, startPageSite } from '../support/page-site.ts'
import { largeView } from '../support/status-page-view.ts'
import type { Teardown } from '../support/teardown.ts'
import { type Engines, type Figure, figure, percentile } from './rig.ts'

const LOADS = 5
const RENDERS = 50
/** Lighthouse's mobile settings: this screen, and a processor four times slower than this machine's. */
const PHONE = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 }
const SLOWDOWN = 4
const LONG_TASK_MS = 50

type Load = { paintMs: number; blockingMs: number; shift: number }

export async function benchStatusPageBrowser(t: Teardown, _engines: Engines): Promise<Figure[]> {
  const rendering = TEMPLATE_NAMES.flatMap(renderTimes)
  const site = await startPageSite(t)
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox'] })
  t.teardown(() => browser.close())
  const loads: Load[] = []
  for (const template of TEMPLATE_NAMES) {
    for (let i = 0; i < LOADS; i++) loads.push(await load(browser, site, template))
  }
  const half = (key: keyof Load) =>
    percentile(
      loads.map(one => one[key]),
      0.5,
    )
  const worst = (key: keyof Load) => Math.max(...loads.map(one => one[key]))
  const both = (key: keyof Load, digits = 0) => `${half(key).toFixed(digits)} / ${worst(key).toFixed(digits)}`
  const renderMs = percentile(rendering, 0.5)
  return [
    figure(
      'rendering a status page of 50 components and 90 days, all templates (p50 / max)',
      `${renderMs.toFixed(1)} / ${Math.max(...rendering).toFixed(1)} ms`,
      'p50 ≤ 50 ms',
      renderMs <= 50,
    ),
    figure(
      `  in a browser ${SLOWDOWN} times slower: first contentful paint (p50 / max of ${loads.length})`,
      `${both('paintMs')} ms`,
      'p50 ≤ 1,800 ms',
      half('paintMs') <= 1_800,
    ),
    figure('  time for which it is blocked', `${both('blockingMs')} ms`, 'p50 ≤ 200 ms', half('blockingMs') <= 200),
    figure('  layout shift', both('shift', 3), 'max ≤ 0.1', worst('shift') <= 0.1),
  ]
}

function renderTimes(template: TemplateName): number[] {
  const view = largeView({ template })
  return Array.from({ length: RENDERS }, () => {
    const startMs = performance.now()
    renderPage(view)
    return performance.now() - startMs
  })
}

async function load(browser: Browser, site: PageSite, template: TemplateName): Promise<Load> {
  const context = await browser.newContext(PHONE)
  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN })
  await page.goto(site.show(largeView({ template, logoUrl: '/status/northwind/logo?v=1' })))
  // a string, because it runs in the page. Observers also receive earlier entries; entries of the next second are counted
  const load = await page.evaluate<Load>(`new Promise(done => {
    const load = { paintMs: 0, blockingMs: 0, shift: 0 }
    const observe = (type, each) =>
      new PerformanceObserver(list => list.getEntries().forEach(each)).observe({ type, buffered: true })
    observe('paint', entry => { if (entry.name === 'first-contentful-paint') load.paintMs = entry.startTime })
    observe('longtask', entry => { load.blockingMs += Math.max(0, entry.duration - ${LONG_TASK_MS}) })
    observe('layout-shift', entry => { if (!entry.hadRecentInput) load.shift += entry.value })
    setTimeout(() => done(load), 1000)
  })`)
  await context.close()
  return load
}
