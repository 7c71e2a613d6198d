import type { BrowserContext, Page } from 'playwright-core'
import t from 'tap'
import { connectNats, ensureStreams } from '../../control-plane/foundation/platform/nats/client.ts'
import { execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { FailureSource } from '../../shared/checks/result.ts'
import { PARTITIONS } from '../../shared/nats/subjects.ts'
import { startApi } from '../support/api-server.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { addSession, readText, readUntil } from '../support/dashboard-browser.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'
import { createPerson } from '../support/person.ts'
import { startTcpRelay } from '../support/tcp-relay.ts'
import type { Teardown } from '../support/teardown.ts'
import {
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

// takes about 50 s

const database = (await createDatabase(t)).url
const postgres = await startTcpRelay(t, database)
const clickhouse = await startTcpRelay(t, (await createClickhouseDatabase(t)).url)
const broker = (await startNats(t)).url
const api = await startApi(t, {
  ...{ DATABASE_URL: postgres.url, CLICKHOUSE_URL: clickhouse.url, NATS_URL: broker, HOST: 'localhost' },
  // the clock of the pages runs faster
  ...{ RATE_LIMIT_PER_MINUTE: '1000000', RATE_LIMIT_PER_PROJECT: '1000000' },
})
const http = await startTcpRelay(t, api.origin.replace('127.0.0.1', 'localhost'))
/** The address of the server that a test can stop. */
const origin = http.url.replace('127.0.0.1', 'localhost').replace(/\/$/, '')
const { newContext } = await openBrowser(t)

const person = await createPerson(api, 'owner@example.com')
const { body } = await api.call('GET', '/me', { key: person.key })
const [name, regions] = ['Shop', ['us-east', 'eu-west']]
// with this interval a vote is valid for the whole test
const id = await insertMonitor(api.db, body.data.project.id, { name, regions, intervalSeconds: 3_600 })
await insertLiveProbes(api.db)
const verdict = await startVerdictProcess(t, database, broker)
const nats = await connectNats(broker, 'test')
await ensureStreams(nats.manager)
const error = { source: FailureSource.TARGET, code: 'ECONNREFUSED', message: 'connection refused' }
for (const region of regions)
  await publish(nats, [createNextResult(id, { up: false, error })], region, `probe-${region}`)
await waitFor(async () => (await readStatuses(api.db, id)) === 'down', { label: 'down' })
await Promise.all([verdict.stop(), nats.close()])

const openSignedIn = async (t: Teardown, token = person.token) => {
  const context = await newContext({ viewport: { width: 1280, height: 900 } })
  t.teardown(() => context.close())
  await addSession(context, token)
  return context
}

const watched: string[][] = []

async function openPage(context: BrowserContext, path: string): Promise<Page> {
  const { page, complaints } = await openWatchedPage(context, origin)
  watched.push(complaints)
  await page.clock.install()
  await page.goto(origin + path)
  return page
}

const readContent = (page: Page) => readText(page.locator('#content'))
const shows = (page: Page, text: RegExp) => async () => text.test(await readContent(page))
const DOWN = /Shop Down connection refused/

t.test('While ClickHouse is away, verdicts and votes stay, and the history says that it is missing', async t => {
  const context = await openSignedIn(t)
  const [open, list] = [await openPage(context, `/monitors/${id}`), await openPage(context, '/monitors')]
  t.match(await readContent(open), 'There are no checks.')
  await clickhouse.cut()
  const page = await openPage(context, `/monitors/${id}`)
  const text = await readContent(page)
  t.match(text, /Shop http https:\/\/shop\.example Down for/)
  t.match(text, '2 of 2 votes are failing')
  t.match(text, /The checks cannot be shown: .+\./)
  t.match(text, /The response times cannot be shown: .+\./)
  t.match(text, /The counts of the distribution cannot be shown: .+\./)
  // what a failed read says stays while it is tried again
  await page.locator('button.search:enabled').waitFor()
  await page.evaluate(`window.loading = 0
    new MutationObserver(() => { window.loading += document.querySelectorAll('.skeleton').length })
      .observe(document.body, { childList: true, subtree: true })`)
  await readUntil(open, shows(open, /The checks are from .+ ago : .+\./), 'old checks on the open page')
  t.match(await readContent(open), '2 of 2 votes are failing')
  t.match(await readContent(list), DOWN)
  t.equal(await open.getByRole('alert').count(), 0, 'the server is in contact')
  // an hour later the period of the charts is another one
  for (const [path, later] of [
    ['/checks', 15_000],
    ['/analytics/latency', 3_600_000],
  ] as const) {
    const refusal = page.waitForResponse(answer => answer.url().includes(path) && answer.status() === 503)
    await page.clock.fastForward(later)
    await refusal
    t.match(await readContent(page), /The checks cannot be shown: .+\./)
    t.match(await readContent(page), /The response times cannot be shown: .+\./)
    t.equal(await page.evaluate('window.loading'), 0)
  }
  await clickhouse.restore()
  for (const one of [page, open])
    await readUntil(one, async () => !/cannot be shown|are from/.test(await readContent(one)), 'the history is back')
})

t.test('While PostgreSQL is away, open pages keep what they have with its age, and recover by themselves', async t => {
  const context = await openSignedIn(t)
  const [overview, list, monitor] = [
    await openPage(context, '/'),
    await openPage(context, '/monitors'),
    await openPage(context, `/monitors/${id}`),
  ]
  for (const page of [overview, list]) await readUntil(page, shows(page, DOWN), 'the row')
  await postgres.cut()
  for (const page of [overview, list]) {
    await readUntil(page, shows(page, /The monitors are from .+ ago : .+\./), 'the age of the monitors')
    t.match(await readContent(page), DOWN)
  }
  await readUntil(monitor, shows(monitor, /The votes are from .+ ago : .+\./), 'the age of the votes')
  t.match(await readContent(monitor), 'Down for')
  const fresh = await context.newPage()
  const answer = await fresh.goto(`${origin}/monitors`)
  t.equal(answer?.status(), 503)
  t.match(await readText(fresh.locator('body')), /try again/i)
  await postgres.restore()
  for (const page of [overview, list, monitor])
    await readUntil(
      page,
      async () => !/are from|cannot be shown/.test(await readContent(page)),
      'the page has recovered',
    )
  await waitFor(async () => (await fresh.reload())?.status() === 200, { label: 'a new page' })
})

t.test('When the first read of an open page fails, what the server sent stays, with the reason', async t => {
  const context = await openSignedIn(t)
  const error = { status: 503, code: 'unavailable', message: 'not now', request_id: 'x', doc_url: 'x' }
  await context.route('**/monitors/board*', route => route.fulfill({ status: 503, json: { error } }))
  const page = await openPage(context, '/monitors')
  await readUntil(page, shows(page, /The monitors are from .+ : not now \./), 'the reason')
  t.match(await readContent(page), DOWN)
  await context.unroute('**/monitors/board*')
  await readUntil(page, async () => !/are from/.test(await readContent(page)), 'the page has recovered')
})

t.test('While NATS is away, open pages say since when no results are read, and go on when it is back', async t => {
  const link = await startTcpRelay(t, broker)
  await startVerdictProcess(t, database, link.url)
  const owned = async () => {
    const leases = 'SELECT count(*) AS count FROM partitions WHERE lease_until > now()'
    return (await query<{ count: number }>(api.db, leases))[0]!.count
  }
  await waitFor(async () => (await owned()) === PARTITIONS, { label: 'all partitions are read' })
  const context = await openSignedIn(t)
  const [list, overview, monitor] = [
    await openPage(context, '/monitors'),
    await openPage(context, '/'),
    await openPage(context, `/monitors/${id}`),
  ]
  const pages = [list, overview, monitor]
  await link.cut()
  await waitFor(async () => (await owned()) === 0, { label: 'the partitions are given up' })
  // until the pages say so, two minutes have to pass
  const later = `interval '2 minutes'`
  await execute(
    api.db,
    `UPDATE partitions SET lease_until = lease_until - ${later}, updated_at = updated_at - ${later}`,
  )
  const warning = /Results of checks have not been read since .+: statuses are from then\./
  for (const page of pages) {
    await readUntil(page, shows(page, warning), 'since when results are not read')
    t.match(await readContent(page), 'Down')
  }
  await link.restore()
  for (const page of pages)
    await readUntil(page, async () => !warning.test(await readContent(page)), 'results are read')
  t.match(await readContent(list), DOWN)
})

t.test('When the server is stopped, an open page says since when, and goes on when it is back', async t => {
  const context = await openSignedIn(t)
  const page = await openPage(context, '/monitors')
  await readUntil(page, shows(page, DOWN), 'the row')
  await http.cut()
  const notice = page.locator('.notice.offline')
  await readUntil(page, () => notice.isVisible(), 'the notice')
  t.match(
    await readText(notice),
    /^No contact with the server since \d\d:\d\d:\d\d\. What you see is from that time\.$/,
  )
  t.match(await readContent(page), DOWN)
  await api.db.raw(`UPDATE monitors SET status = 'up', status_changed_at = now() WHERE id = ?`, [id])
  await http.restore()
  await readUntil(page, shows(page, /Shop Up/), 'what changed in the meantime')
  await readUntil(page, async () => !(await notice.isVisible()), 'the notice ends')
})

t.test('When the session ends, the page keeps its content, and goes on after signing in in a new tab', async t => {
  const visitor = await createPerson(api, 'second@example.com', { role: 'editor', invitedBy: person })
  const context = await openSignedIn(t, visitor.token)
  const page = await openPage(context, '/monitors?q=shop')
  await visitor.signOut()
  const notice = page.locator('.notice.session')
  await readUntil(page, () => notice.isVisible(), 'the notice')
  t.match(await readText(notice), 'Your session has ended.')
  t.match(await readContent(page), 'Shop')
  t.equal(await page.getByLabel('Filter').inputValue(), 'shop')
  const opened = context.waitForEvent('page')
  await notice.getByRole('link').click()
  const tab = await opened
  await tab.getByLabel('Email address').fill('second@example.com')
  await tab.getByLabel('Password').fill('correct horse battery')
  await tab.getByRole('button', { name: 'Sign in' }).click()
  await tab.getByRole('heading', { name: 'Monitors' }).waitFor()
  t.equal(tab.url(), `${origin}/monitors?q=shop`)
  await tab.close()
  await page.evaluate("dispatchEvent(new Event('focus'))")
  await notice.waitFor({ state: 'detached' })
  t.equal(await page.getByLabel('Filter').inputValue(), 'shop', 'the first tab goes on')
})

t.test('No page reported anything but the requests that failed', async t => {
  t.equal(watched.length, 12)
  const unexpected = watched.flat().filter(complaint => !complaint.startsWith('console: Failed to load resource'))
  t.same(unexpected, [])
})
