import type { Page } from 'playwright-core'
import { buildCheck, buildList, buildMonitor } from './dashboard-answers.ts'
import { ago, NOW } from './dashboard-fixtures.ts'
import { FULL, RECORD_ID } from './dashboard-scenes.ts'
import type { ScreenState } from './dashboard-screens.tsx'
import type { DashboardSite } from './dashboard-site.ts'
import { DELETION, DIFFERENCE, DNS_CHECK, FAILED_CHECK, NO_DIFFERENCE, SCREENSHOTS, STRIPS } from './overlay-answers.ts'
import { waitFor } from './wait.ts'

/** Something that opens over a page: the drawer of a check, the palette, or the dialog of changes. */
type OverlayScene = {
  /** for files, such as `palette-full` */
  name: string
  isPictured: boolean
  /** resolves when everything is shown */
  open(page: Page, site: DashboardSite): Promise<void>
}

const AWAY = { status: 503, code: 'unavailable', message: 'temporarily unavailable' }

const drawer = (name: string, checks: ReturnType<typeof buildCheck>[], state: ScreenState = {}): OverlayScene => ({
  name: `monitors-id-check-${name}`,
  isPictured: name === 'full',
  async open(page, site) {
    const search = new URLSearchParams({ check: 'k2', at: ago(1) })
    const answers: ScreenState['answers'] = {
      ...FULL.answers,
      readMonitor: { data: buildMonitor({ name: 'Checkout', status: 'down', screenshot_compare: true }) },
      listMonitorChecks: buildList(checks),
      listMonitorScreenshots: buildList(SCREENSHOTS),
    }
    await page.goto(site.show({ address: `/monitors/${RECORD_ID}?${search}`, state: { ...FULL, answers, ...state } }))
    const areLoaded = `[...document.querySelectorAll('.drawer img')].every(one => one.complete && one.naturalWidth > 0)`
    await waitFor(() => page.evaluate<boolean>(areLoaded), { label: 'the screenshots' })
  },
})

/** The list of monitors in a browser that runs scripts. */
const LIST: ScreenState = {
  ...FULL,
  isInteractive: false,
  answers: {
    ...FULL.answers,
    // all monitors have a channel
    listMonitors: buildList([]),
    listAnalyticsStrips: STRIPS,
    listViews: buildList([
      {
        ...{ id: 'v1', name: 'Checkout and search', query: 'tag:shop', is_shared: true },
        ...{ created_at: ago(9_000), updated_at: ago(9_000) },
      },
    ]),
  },
}

async function openList(page: Page, site: DashboardSite, state: ScreenState): Promise<void> {
  await page.clock.setFixedTime(NOW)
  await page.goto(site.showLive({ address: '/monitors', state }))
  await page.locator('button.search:enabled').waitFor()
  // of one read, the last one of the page
  if (!state.errors?.readMonitorBoard) await page.locator('.strip.of-day').first().waitFor({ state: 'attached' })
}

/** The palette with a text, when it has entries with these names. */
const palette = (name: string, text: string, state: ScreenState, expected: readonly string[]): OverlayScene => ({
  name: `palette-${name}`,
  isPictured: name === 'full',
  async open(page, site) {
    await openList(page, site, state)
    await page.keyboard.press('Control+k')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Monitor, page or action' }).fill(text)
    for (const one of expected) await dialog.getByText(one, { exact: true }).first().waitFor()
  },
})

type ChangeOptions = { answer?: typeof DIFFERENCE; error?: ScreenState['errors']; button?: string }

/** The dialog of changes of all monitors, after `fill` and when the text is there. */
const change = (
  name: string,
  expected: string,
  fill: (page: Page) => Promise<unknown>,
  { answer, error, button = 'Change…' }: ChangeOptions = {},
): OverlayScene => ({
  name: `monitors-change-${name}`,
  isPictured: ['full', 'form'].includes(name),
  async open(page, site) {
    const answers = { ...LIST.answers, ...(answer && { changeMonitors: { data: answer } }) }
    await openList(page, site, { ...LIST, answers, ...(error && { errors: error }) })
    for (const box of await page.locator('tbody .pick input').all()) await box.click()
    await page.getByRole('button', { name: button, exact: true }).click()
    await page.getByRole('dialog').waitFor()
    await fill(page)
    await page.getByRole('dialog').getByText(expected).first().waitFor()
    // over no row
    await page.mouse.move(0, 0)
  },
})

const fillInterval = async (page: Page) => {
  await page.getByLabel('Interval', { exact: true }).fill('5')
  await page.getByRole('button', { name: 'Show the difference' }).click()
}
const chooseRegions = async (page: Page) => {
  await page.getByLabel('What changes').selectOption('regions')
  await page.getByLabel('ap-northeast').selectOption('add')
}
const REFUSED_INTERVAL = {
  ...{ status: 400, code: 'validation_error', message: 'change.interval_seconds must be at least 30' },
  details: [{ path: 'change.interval_seconds', message: 'change.interval_seconds must be at least 30' }],
}

/** What opens over a page, each with content, without, and with errors. */
export const OVERLAY_SCENES: readonly OverlayScene[] = [
  drawer('full', [FAILED_CHECK, buildCheck()]),
  drawer('dns', [DNS_CHECK]),
  drawer('empty', []),
  drawer('error', [], { errors: { listMonitorChecks: AWAY, listMonitorScreenshots: AWAY } }),
  palette('full', 'ch', LIST, ['Checkout', 'Search', 'Checkout and search']),
  palette('empty', 'zzz', LIST, ['Nothing matches.']),
  palette('error', '', { ...LIST, errors: { readMonitorBoard: AWAY, listViews: AWAY } }, ['Monitors that are down']),
  change('full', '3 monitors change', fillInterval, { answer: DIFFERENCE }),
  change('form', 'ap-northeast', chooseRegions),
  change('empty', '0 monitors change', fillInterval, { answer: NO_DIFFERENCE }),
  change('error', 'must be at least 30', fillInterval, { error: { changeMonitors: REFUSED_INTERVAL } }),
  change('delete', 'This cannot be undone', async () => {}, { answer: DELETION, button: 'Delete…' }),
  change('silence', 'Reason', async () => {}, { button: 'Silence…' }),
]
