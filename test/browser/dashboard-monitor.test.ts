import type { Page } from 'playwright-core'
import t from 'tap'
import { createClickhouse } from '../../control-plane/foundation/platform/clickhouse.ts'
import {
  encodeOrigin,
  RESULT_LINE_COLUMNS,
  toResultLine,
} from '../../control-plane/insight/analytics/recording/result-line.ts'
import { FailureSource, NO_DETAILS, Outcome, type Result } from '../../shared/checks/result.ts'
import { startApi } from '../support/api-server.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { addSession, readOverflow, readText } from '../support/dashboard-browser.ts'
import { insertLines } from '../support/insert-lines.ts'
import { startNats } from '../support/nats.ts'
import { createPerson } from '../support/person.ts'
import { openAnsweredRegions } from '../support/requested-checks.ts'
import { buildArrival, createResult } from '../support/results.ts'
import type { Teardown } from '../support/teardown.ts'
import { openBrowser } from './open-browser.ts'

const MINUTE_MS = 60_000
const PROBE = '01a1fb92-bd2c-74bd-b89d-7c289ceb0470'
const { url } = await createClickhouseDatabase(t)
const nats = await startNats(t)
const api = await startApi(t, { CLICKHOUSE_URL: url, NATS_URL: nats.url, HOST: 'localhost' })
const origin = api.origin.replace('127.0.0.1', 'localhost')
const { openTab } = await openBrowser(t)
const person = await createPerson(api, 'ann@example.com')
const viewer = await createPerson(api, 'bob@example.com', { role: 'viewer', invitedBy: person })
const clickhouse = createClickhouse(url)
t.teardown(() => clickhouse.close())

const created = await api.call('POST', '/monitors', {
  key: person.key,
  body: {
    name: 'Shop',
    type: 'http',
    url: 'https://shop.example.com/',
    regions: ['us-east', 'eu-west', 'ap-southeast'],
  },
})
const id: string = created.body.data.id
const path = `/monitors/${id}`
await api.call('PUT', path, { key: person.key, body: { timeout_ms: 20_000 } })

/** A check a minute in two regions for three hours; the newest one of us-east fails. */
const nowMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - MINUTE_MS
const failure = {
  ...{ outcome: Outcome.DOWN, statusCode: 0, resolvedIp: '', ...NO_DETAILS },
  error: { source: FailureSource.TARGET, code: 'connection_refused', message: 'the connection was refused' },
}
for (const region of ['us-east', 'eu-west']) {
  const results = Array.from({ length: 180 }, (_, i) => {
    const atMs = nowMs - i * MINUTE_MS
    return createResult(id, atMs, {
      ...{ startedAtMs: atMs, totalUs: 200_000 },
      timings: { dnsUs: 10_000, connectUs: 20_000, tlsUs: 0, firstByteUs: 150_000, transferUs: 20_000 },
      ...(i === 0 && region === 'us-east' && failure),
    })
  })
  await storeResults(region, PROBE, results)
}

function storeResults(region: string, probeId: string, results: Result[]): Promise<void> {
  const lines = results.map(result => toResultLine(result, encodeOrigin({ region, probeId }), buildArrival(result)))
  return insertLines(clickhouse, `results (${RESULT_LINE_COLUMNS})`, lines)
}

async function openMonitor(t: Teardown, search = '', options: object = {}, token = person.token) {
  const desktop = { viewport: { width: 1280, height: 900 } }
  const watched = await openTab(t, origin, { ...desktop, ...options })
  await addSession(watched.context, token)
  await watched.page.goto(origin + path + search)
  // before, keys do nothing, and links load whole pages
  if (!('javaScriptEnabled' in options)) await watched.page.locator('button.search:enabled').waitFor()
  return watched
}

const getSearchParams = (page: Page) => new URL(page.url()).searchParams
const slider = (page: Page) => page.getByRole('slider', { name: 'Time in the charts' })

t.test('A check opens at the side with an address of its own, and Escape leads back to its row', async t => {
  const { page, complaints } = await openMonitor(t, '?region=us-east&range=7d')
  await slider(page).waitFor()
  const row = page.locator('a.check', { hasText: 'the connection was refused' })
  await row.press('Enter')
  const drawer = page.getByRole('region', { name: 'Check', exact: true })
  await drawer.getByText('Cause', { exact: true }).waitFor()
  t.match(await drawer.textContent(), /down in us-east.*Error.*the connection was refused \(connection_refused\)/)
  t.match(await drawer.textContent(), PROBE)
  t.match([...getSearchParams(page).keys()], ['region', 'range', 'check', 'at'])
  t.equal(await page.evaluate('document.activeElement.id'), 'check-title')
  t.same(await findAccessibilityProblems(page), [])
  const shared = page.url()
  // the row is there again when the checks of the other range have been read
  const read = page.waitForResponse(/\/checks\?/)
  await page.getByRole('link', { name: '30 days' }).press('Enter')
  await page.waitForURL(/range=30d/)
  await read
  await row.waitFor()
  await page.keyboard.press('Escape')
  await drawer.waitFor({ state: 'detached' })
  t.same(
    [...getSearchParams(page)],
    [
      ['region', 'us-east'],
      ['range', '30d'],
    ],
    'a range that was chosen meanwhile stays',
  )
  const rowId = (await row.getAttribute('id')) ?? ''
  await page.waitForFunction(id => document.activeElement?.id === id, rowId)
  t.same(complaints, [])

  const still = await openMonitor(t, new URL(shared).search, { javaScriptEnabled: false })
  await still.page.locator('#check').getByText('Cause', { exact: true }).waitFor()
  await still.page.getByRole('link', { name: 'Close' }).click()
  await still.page.waitForURL(url => !url.searchParams.has('check'))
  t.equal(await still.page.getByRole('region', { name: 'Check', exact: true }).count(), 0, 'it closes without scripts')
})

t.test('The page says that a check of another monitor does not exist', async t => {
  const { page } = await openMonitor(t, `?check=${PROBE}&at=${new Date(nowMs).toISOString()}`, {
    viewport: { width: 390, height: 844 },
  })
  await page.getByText('There is no such check of this monitor').waitFor()
  t.equal(await readOverflow(page), 0)
})

t.test('All charts have one cursor, and a range that is chosen by dragging or by typing', async t => {
  const { page, complaints } = await openMonitor(t, '?region=eu-west')
  await slider(page).focus()
  await page.keyboard.press('End')
  for (let i = 0; i < 24; i++) await page.keyboard.press('ArrowLeft')
  t.match(await slider(page).getAttribute('aria-valuetext'), /p50 200 ms, p95 200 ms.*checks?; DNS 10 ms/)
  t.equal(await page.locator('.chart .cursor').count(), 3, 'it is in every chart')
  t.equal(await page.locator('.chart line.change').count(), 3, 'the change of the timeout is marked')

  const chart = page.locator('svg.chart').first()
  await chart.scrollIntoViewIfNeeded()
  const box = (await chart.boundingBox())!
  const y = box.y + box.height / 2
  await page.mouse.move(box.x + box.width * 0.5, y)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.7, y, { steps: 4 })
  t.equal(await page.locator('.chart .dragged').count(), 3)
  await page.mouse.up()
  await page.waitForURL(/from=/)
  const [from, to] = ['from', 'to'].map(name => getSearchParams(page).get(name)!)
  t.ok(Date.parse(`${to}Z`) - Date.parse(`${from}Z`) > 60 * MINUTE_MS)
  t.equal(getSearchParams(page).get('region'), 'eu-west', 'the filter of the checks stays')
  t.equal(await page.getByLabel('From (UTC)').inputValue(), from)

  const times = (ms: number) => new Date(ms).toISOString().slice(0, 16)
  await page.getByLabel('From (UTC)').fill(times(Math.floor(nowMs / 300_000) * 300_000 - 60 * MINUTE_MS))
  await page.getByLabel('To (UTC)').fill(times(Math.floor(nowMs / 300_000) * 300_000))
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.waitForURL(url => url.searchParams.get('from') !== from)
  t.equal(getSearchParams(page).get('region'), 'eu-west')
  await slider(page).waitFor()
  await page.getByRole('link', { name: '7 days' }).click()
  await page.waitForURL(/range=7d/)
  t.same(
    [...getSearchParams(page)],
    [
      ['region', 'eu-west'],
      ['range', '7d'],
    ],
  )
  t.same(await findAccessibilityProblems(page), [])
  t.same(complaints, [])
})

t.test('Each region has a chart of its own, with the same axis, cursor and marks', async t => {
  const { page, complaints } = await openMonitor(t, '', { viewport: { width: 390, height: 844 } })
  await slider(page).waitFor()
  await page.getByText('Response time in each region').click()
  const { regions } = (await api.call('GET', path, { key: person.key })).body.data
  for (const region of regions as string[]) {
    const checks = { 'us-east': '179 checks', 'eu-west': '180 checks' }[region]
    const text = checks ? `Response time in ${region} of ${checks}` : `Response time in ${region}: no successful checks`
    await page.getByRole('img', { name: text }).waitFor()
  }
  const tops = await page
    .locator('.small-charts svg')
    .evaluateAll(charts =>
      charts.map(chart =>
        [...chart.querySelectorAll('text')].map(text => text.textContent).find(text => / m?s$/.test(text ?? '')),
      ),
    )
  t.equal(new Set(tops).size, 1, 'they can be compared')
  await slider(page).focus()
  await page.keyboard.press('ArrowLeft')
  await page
    .locator('.chart .cursor')
    .nth(2 + regions.length)
    .waitFor({ state: 'attached' })
  t.equal(await readOverflow(page), 0)
  t.same(await findAccessibilityProblems(page), [])
  t.same(complaints, [])
})

t.test('Charts of the regions that are opened before the scripts are there are shown when they are', async t => {
  const { context, page, complaints } = await openTab(t, origin)
  await addSession(context, person.token)
  let release = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  await page.route('**/assets/*.js', async route => {
    await released
    await route.continue()
  })
  await page.goto(origin + path, { waitUntil: 'commit' })
  await page.getByText('Response time in each region').click()
  await page.locator('details.regions[open]').waitFor()
  release()
  await page.getByRole('img', { name: 'Response time in us-east of' }).waitFor()
  t.same(complaints, [])
})

t.test('Paper has no controls, and forced colours leave every status readable', async t => {
  const { page } = await openMonitor(t, '', { colorScheme: 'dark' })
  await slider(page).waitFor()
  await page.emulateMedia({ media: 'print' })
  t.equal(await page.locator('button:visible, select:visible, input:visible').count(), 0)
  t.equal(await page.locator('svg.chart:visible').count(), 3)
  t.equal(await page.evaluate('getComputedStyle(document.documentElement).getPropertyValue("--ground").trim()'), '#fff')
  await page.emulateMedia({ media: 'screen', forcedColors: 'active' })
  const readInk = (selector: string) =>
    page
      .locator(selector)
      .first()
      .evaluate(element => {
        const view = element.ownerDocument.defaultView!
        const { fill } = view.getComputedStyle(element)
        return { isVisible: fill !== view.getComputedStyle(element.ownerDocument.body).backgroundColor, fill }
      })
  for (const selector of ['.state svg', '.strip rect', '.chart .heat']) {
    const { isVisible, fill } = await readInk(selector)
    t.ok(isVisible, `${selector}: ${fill}`)
  }
})

t.test('"Check now" shows the result of each region when it arrives, and then the list has these checks', async t => {
  const regions = await openAnsweredRegions(t, api.db, nats.url, ['us-east', 'eu-west'])
  const { page, complaints } = await openMonitor(t)
  await page.locator('button.search:enabled').waitFor()
  const status = page.locator('.check-progress')
  const earlierChecks = page.waitForResponse(/checks\?per_page=100/)
  await page.keyboard.press('c')
  await status.getByText('Checking Shop from us-east, eu-west, ap-southeast …').waitFor()
  await earlierChecks
  t.ok(await page.getByRole('button', { name: 'Check now' }).isDisabled())
  t.equal(await status.getAttribute('role'), 'status', 'screen readers read it out')

  const up = await regions.build('eu-west', { totalUs: 81_000 })
  await storeResults('eu-west', regions.probeId, [up])
  await status.getByText('Checking Shop from us-east, ap-southeast …').waitFor()
  t.equal(await readText(status.getByRole('listitem')), 'eu-west Up 200 in 81 ms')

  regions.answer(up)
  const error = { source: FailureSource.TARGET, code: 'timeout', message: 'the request timed out' }
  const down = await regions.build('us-east', { ...failure, error })
  regions.answer(down)
  await status.getByText('Checked Shop now, at').waitFor()
  t.match(
    await readText(status.getByRole('list')),
    'us-east Down the request timed out eu-west Up 200 in 81 ms ap-southeast Unknown no probe of ap-southeast is connected',
  )
  const [red, , unknown] = await status
    .locator('.state')
    .evaluateAll(states => states.map(state => state.ownerDocument.defaultView!.getComputedStyle(state).color))
  t.not(unknown, red, 'what is unknown is not shown as trouble')
  t.equal(await page.locator('a.check', { hasText: 'the request timed out' }).count(), 0, 'it is not recorded yet')
  await storeResults('us-east', regions.probeId, [down])
  await page.locator('a.check', { hasText: 'the request timed out' }).waitFor()
  t.same(await findAccessibilityProblems(page), [])
  await page.setViewportSize({ width: 390, height: 844 })
  t.equal(await readOverflow(page), 0)
  t.same(complaints, [])
})

t.test('The keys of the page of a monitor pause it, silence it and open its settings', async t => {
  const { page, complaints } = await openMonitor(t)
  const { keyboard } = page
  const isPaused = async () => (await api.call('GET', path, { key: person.key })).body.data.is_paused as boolean
  await page.locator('button.search:enabled').waitFor()
  for (const field of ['select[name="region"]', 'input[name="from"]']) await page.locator(field).press('p')
  await page.getByRole('heading', { level: 1 }).click()
  await keyboard.press('Alt+p')
  await keyboard.press('m')
  const dialog = page.getByRole('dialog', { name: 'Silence Shop' })
  await dialog.getByRole('button', { name: 'Cancel' }).press('p')
  await keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  t.notOk(await isPaused(), 'not in a field, under a dialog or with Alt')

  await keyboard.press('p')
  await page.getByRole('button', { name: 'Resume' }).and(page.locator(':enabled')).waitFor()
  t.ok(await isPaused())
  await keyboard.press('p')
  await page.getByRole('button', { name: 'Pause' }).and(page.locator(':enabled')).waitFor()
  t.notOk(await isPaused())
  await keyboard.press('e')
  await page.waitForURL(`${origin}${path}/settings`)
  t.same(complaints, [])

  const readOnly = await openMonitor(t, '', {}, viewer.token)
  const changes: string[] = []
  readOnly.page.on('request', request => request.method() !== 'GET' && changes.push(request.url()))
  await readOnly.page.locator('button.search:enabled').waitFor()
  for (const key of ['c', 'p', 'm', 'e', '?']) await readOnly.page.keyboard.press(key)
  const help = readOnly.page.getByRole('dialog')
  await help.getByRole('heading', { name: 'List of incidents' }).waitFor()
  t.equal(await help.getByRole('heading', { name: 'Page of a monitor' }).count(), 0, 'a viewer has none of these keys')
  t.same(changes, [])
  t.same(readOnly.complaints, [])
})
