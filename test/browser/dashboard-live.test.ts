import type { Page } from 'playwright-core'
import t from 'tap'
import { connectNats, ensureStreams } from '../../control-plane/foundation/platform/nats/client.ts'
import type { ExplainedVote, Explanation } from '../../control-plane/verdict/core/types.ts'
import { FailureSource, Outcome } from '../../shared/checks/result.ts'
import { startApi } from '../support/api-server.ts'
import { TEXT_ATTACKS } from '../support/attacks.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { addSession, readOverflow, readRows, readText, readUntil } from '../support/dashboard-browser.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'
import { createPerson } from '../support/person.ts'
import {
  countVoters,
  createNextResult,
  insertLiveProbes,
  insertMonitor,
  publish,
  readStatuses,
  startVerdictProcess,
} from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'
import { openWatchedPage } from '../support/watched-page.ts'
import { openBrowser } from './open-browser.ts'

const REGIONS = ['us-east', 'eu-west', 'ap-southeast']
/** With this interval a vote is valid for the whole test. */
const WATCHED = { regions: REGIONS, retryCount: 1, intervalSeconds: 3_600 }
const server = await startNats(t)
const api = await startApi(t, {
  ...{ DATABASE_URL: (await createDatabase(t)).url, NATS_URL: server.url, HOST: 'localhost' },
})
const origin = api.origin.replace('127.0.0.1', 'localhost')
const nats = await connectNats(server.url, 'test')
await ensureStreams(nats.manager)
t.teardown(() => nats.close())
await insertLiveProbes(api.db)
await startVerdictProcess(t, api.databaseUrl, server.url)
const person = await createPerson(api, 'owner@example.com')
const me = await api.call('GET', '/me', { key: person.key })
const projectId: string = me.body.data.project.id
const { newContext } = await openBrowser(t)
const context = await newContext({ viewport: { width: 1280, height: 900 } })
await addSession(context, person.token)

const openPage = async (path: string) => {
  const watched = await openWatchedPage(context, origin)
  await watched.page.clock.install()
  await watched.page.goto(origin + path)
  return watched
}

const refused = (message = 'connection refused') => ({
  ...{ up: false, outcome: Outcome.DOWN, statusCode: 0 },
  error: { source: FailureSource.TARGET, code: 'ECONNREFUSED', message },
})

/** Publishes two checks of each region, which are enough for a vote, and waits for the statuses that follow. */
async function reach(id: string, statuses: string, failure: object | null, regions = REGIONS): Promise<void> {
  for (const region of regions)
    for (let i = 0; i < 2; i++)
      await publish(nats, [createNextResult(id, { up: true, ...failure })], region, `probe-${region}`)
  await waitFor(async () => (await readStatuses(api.db, id)) === statuses, { label: statuses })
}

/** The row of a monitor in a list. */
const locateRow = (page: Page, id: string) => page.locator(`tr[data-id="${id}"]`)

t.test('A target dies and comes back: row, page and title change without a reload', async t => {
  const id = await insertMonitor(api.db, projectId, { name: 'Shop', ...WATCHED })
  await reach(id, 'up', null)
  await waitFor(async () => (await countVoters(api.db, id)) === REGIONS.length, { label: 'the votes of all regions' })
  const [overview, list, monitor] = [
    await openPage('/'),
    await openPage('/monitors'),
    await openPage(`/monitors/${id}`),
  ]
  for (const { page } of [overview, list, monitor]) await page.evaluate('window.mark = 1')
  t.equal(await overview.page.title(), 'The monitor is up · Picket')
  t.match(await readText(locateRow(list.page, id)), /Shop\s+Up/)
  t.match(await readText(monitor.page.locator('.sentence')), /^Up for/)

  await reach(id, 'up down', refused(), REGIONS.slice(0, 2))
  const isTitle = (page: Page, title: string) => async () => (await page.title()) === title
  await readUntil(overview.page, isTitle(overview.page, '1 down · Picket'), 'the title of the overview')
  t.match(await readText(overview.page.locator('h1')), '1 down')
  t.match(await readText(locateRow(overview.page, id)), /Shop\s+Down\s+connection refused/)
  await readUntil(list.page, async () => /Down/.test(await readText(locateRow(list.page, id))), 'the row')
  const strip = locateRow(list.page, id).getByRole('img', { name: /^Votes/ })
  t.equal(await strip.getAttribute('aria-label'), 'Votes: us-east failing, eu-west failing, ap-southeast ok')
  const isStatus = (status: string) => async () =>
    (await readText(monitor.page.locator('.sentence'))).startsWith(status)
  await readUntil(monitor.page, isStatus('Down'), 'the page of the monitor')
  // each of them is of another read
  await monitor.page.locator('.because', { hasText: '2 of 3 regions failed 2 checks in a row' }).waitFor()
  const rule = '2 of 3 votes are failing; 2 are enough for down.'
  await waitFor(async () => (await readText(monitor.page.locator('#votes .rule'))).includes(rule), { label: rule })
  await monitor.page.getByRole('link', { name: 'Open incident' }).waitFor()

  await reach(id, 'up down up', null)
  await readUntil(overview.page, isTitle(overview.page, 'The monitor is up · Picket'), 'the title of the overview')
  t.equal(await overview.page.locator('#trouble').count(), 0, 'nothing that is not up')
  await readUntil(list.page, async () => /Up/.test(await readText(locateRow(list.page, id))), 'the row')
  await readUntil(monitor.page, isStatus('Up'), 'the page of the monitor')
  await readUntil(monitor.page, async () => (await monitor.page.locator('.because').count()) === 0, 'no reason')
  for (const { page, complaints } of [overview, list, monitor]) {
    t.equal(await page.evaluate('window.mark'), 1, 'the page was not loaded again')
    t.same(complaints, [])
    await page.close()
  }
})

t.test('A monitor that fails stays where it is in the list, which says so and sorts again on a click', async t => {
  const [first, last] = [
    await insertMonitor(api.db, projectId, { name: 'Order 1', ...WATCHED }),
    await insertMonitor(api.db, projectId, { name: 'Order 2', ...WATCHED }),
  ]
  for (const id of [first, last]) await reach(id, 'up', null)
  const { page, complaints } = await openPage('/monitors?q=Order')
  const readIds = () => page.locator('tr[data-id]').evaluateAll(rows => rows.map(row => row.getAttribute('data-id')))
  t.same(await readIds(), [first, last])
  // the order to keep is that of the first read in the browser, whose names the row then has
  const renamed = await api.call('PUT', `/monitors/${first}`, { key: person.key, body: { name: 'Order 1 renamed' } })
  t.equal(renamed.status, 200)
  await readUntil(page, async () => /renamed/.test(await readText(locateRow(page, first))), 'the first read')
  await reach(last, 'up down', refused())
  await readUntil(page, async () => /Down/.test(await readText(locateRow(page, last))), 'the row')
  t.same(await readIds(), [first, last], 'no row moves under the pointer')
  t.match(await readText(page.locator('.old-order')), 'The order has changed')
  t.same(await findAccessibilityProblems(page), [])
  await page.getByRole('button', { name: 'Sort again' }).click()
  await readUntil(page, async () => (await readIds())[0] === last, 'the current order')
  t.equal(await page.locator('.old-order p').count(), 0)
  t.same(complaints, [])
  await page.close()
})

/** The first three cells of a row of the votes, from an answer of the API. */
const voteCells = (votes: readonly ExplainedVote[], threshold: number) =>
  votes.map(({ region, state, failed_in_a_row: failed, last_check: check }) => [
    ...[region, state, `${Math.min(failed, threshold)}/${threshold}`],
    check!.error?.message ?? /^200, /,
    check!.error?.source ?? '',
  ])

t.test('The explanation on the page is that of the API', async t => {
  const id = await insertMonitor(api.db, projectId, { name: 'Search', ...WATCHED })
  await reach(id, 'up', null)
  await reach(id, 'up down', refused(), REGIONS.slice(1))
  const { page, complaints } = await openPage(`/monitors/${id}`)
  const { data: transitions } = (await api.call('GET', `/monitors/${id}/transitions`, { key: person.key })).body
  const explanation: Explanation = transitions[0].explanation
  const { thresholds, quorum, counts, votes } = explanation
  t.match({ counts, quorum }, { counts: { failing: 2, ok: 1 }, quorum: { needed: 2, regions: 3 } })

  const panel = page.locator('#transitions .explanation').first()
  t.ok(await panel.isVisible(), 'the newest change is open')
  const text = await readText(panel)
  t.match(text, `Down: ${counts.failing} of ${quorum.regions} regions are failing, which is a majority of the votes.`)
  t.match(
    text,
    `${quorum.needed} of ${quorum.regions} votes needed · ${thresholds.failures_in_a_row} failures in a row each`,
  )
  t.match(text, `quorum ${quorum.mode}`)
  const cells = (await readRows(page, '#transitions .explanation')).slice(0, 3).map(row => row.slice(0, 5))
  t.match(cells, voteCells(votes, thresholds.failures_in_a_row))
  t.equal(await readText(page.locator('.because')), transitions[0].summary)

  const now = (await api.call('GET', `/monitors/${id}/votes`, { key: person.key })).body.data
  const rows = (await readRows(page, '#votes')).map(row => row.slice(0, 5))
  t.match(rows, voteCells(now.votes, now.thresholds.failures_in_a_row))
  t.match(rows[0], ['us-east', 'ok', '0/2'])
  t.match(rows[1], ['eu-west', 'failing', '2/2', 'connection refused', 'target'])
  t.same(complaints, [])
  await page.close()
})

t.test('Hostile texts of people and targets are shown as text', async t => {
  const text = `${TEXT_ATTACKS.slice(0, 5).join(' ').slice(0, 100)} ${'W'.repeat(150)}`
  const id = await insertMonitor(api.db, projectId, { name: text, ...WATCHED })
  await api.db.raw('UPDATE monitors SET tags = ? WHERE id = ?', [[TEXT_ATTACKS[0]!, TEXT_ATTACKS[1]!], id])
  await reach(id, 'up', null)
  await reach(id, 'up down', refused(TEXT_ATTACKS[3]))
  for (const path of ['/', '/monitors', `/monitors/${id}`, `/monitors?q=${encodeURIComponent(TEXT_ATTACKS[1]!)}`]) {
    const { page, complaints } = await openPage(path)
    await page.locator('#content h1').waitFor()
    // the elements that the browser made itself
    const isRead = async () => (await readText(page.locator('#content'))).includes(TEXT_ATTACKS[0]!)
    if (!path.includes('?')) await readUntil(page, isRead, `the text on ${path}`)
    t.equal(await page.evaluate('window.hit'), undefined, path)
    t.equal(await page.locator('main :is(script, iframe, style, base, link, meta)').count(), 0, path)
    t.equal(await page.locator('[onerror], [onload], [onfocus], [style]').count(), 0, path)
    await page.setViewportSize({ width: 390, height: 844 })
    t.equal(await readOverflow(page), 0, `${path}: no horizontal scrolling on a phone`)
    t.same(complaints, [], `${path}: no violation of the policy, and no request to another origin`)
    await page.close()
  }
  const { page } = await openPage(`/monitors/${id}`)
  t.equal(await page.getByRole('heading', { level: 1 }).textContent(), text)
  t.equal(await page.title(), `${text} · Picket`.replace(/\s+/g, ' '))
  t.match(await readText(page.locator('.trail')), TEXT_ATTACKS[0])
  t.ok((await readText(page.locator('#votes td.check').first())).includes('<img src='), 'the error of the target')
})
