// takes about 40 s
import type { BrowserContext, Page } from 'playwright-core'
import t from 'tap'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { insertWatchedMonitors } from '../support/board.ts'
import { addSession, readText } from '../support/dashboard-browser.ts'
import { createPerson } from '../support/person.ts'
import type { Teardown } from '../support/teardown.ts'
import { insertMonitor } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'
import { openWatchedPage } from '../support/watched-page.ts'
import { openBrowser } from './open-browser.ts'

const api = await startApi(t, { HOST: 'localhost', RATE_LIMIT_PER_MINUTE: '1000000' })
const origin = api.origin.replace('127.0.0.1', 'localhost')
const { newContext } = await openBrowser(t)
const person = await createPerson(api, 'owner@example.com')
const { body } = await api.call('GET', '/me', { key: person.key })
const projectId: string = body.data.project.id
await insertWatchedMonitors(api.db, projectId, 10_000)
const till = await insertMonitor(api.db, projectId, { name: 'Till 1' })
for (const name of ['Till 2', 'Till 3']) await insertMonitor(api.db, projectId, { name })

async function openContext(t: Teardown): Promise<BrowserContext> {
  const context = await newContext({ viewport: { width: 1280, height: 900 } })
  t.teardown(() => context.close())
  await addSession(context, person.token)
  return context
}

async function openPage(context: BrowserContext, path: string) {
  const watched = await openWatchedPage(context, origin)
  await watched.page.goto(origin + path)
  await watched.page.locator('button.search:enabled').waitFor()
  return watched
}

/** The number of monitors for which a condition holds in the database. */
async function count(condition: string): Promise<number> {
  const sql = `SELECT count(*)::integer AS count FROM monitors WHERE project_id = ? AND ${condition}`
  return (await query<{ count: number }>(api.db, sql, [projectId]))[0]!.count
}

/** A change can be undone for 30 s, which a busy machine needs for the next step: the time of the page does not go on. */
const stopTime = (page: Page) => page.clock.setFixedTime(Date.now())

const locateSelection = (page: Page) => page.locator('.bulk-bar [role="status"]')

t.test('Of 10,000 monitors, all that a filter matches are selected, changed, and changed back', async t => {
  const { page, complaints } = await openPage(await openContext(t), '/monitors')
  await stopTime(page)
  await page.getByLabel('Filter').fill('tag:team-3 -is:down')
  await page.waitForURL(({ searchParams }) => searchParams.get('q') === 'tag:team-3 -is:down')
  const matching = await count(`'team-3' = ANY (tags) AND status <> 'down'`)
  t.ok(matching > 400)
  await page
    .getByText(new RegExp(`^${matching} (of|monitors)`))
    .first()
    .waitFor()
  await page.locator('tr[data-id] input').first().click()
  await page.getByRole('button', { name: `Select all ${matching} that match` }).click()
  t.equal(await readText(locateSelection(page)), `${matching} monitors selected`)
  await page.getByRole('button', { name: 'Pause' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(`${matching} monitors change.`).waitFor()
  await dialog.getByRole('button', { name: `Pause ${matching} monitors` }).click()
  await page.getByText(`${matching} monitors changed.`).waitFor()
  t.equal(await count('is_paused'), matching)
  t.equal(await count(`is_paused AND NOT 'team-3' = ANY (tags)`), 0)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' })
  t.equal(await count('is_paused'), 0)
  t.same(complaints, [])
})

t.test('A person finds, pauses and resumes monitors, and opens one, with the keyboard alone', async t => {
  const { page, complaints } = await openPage(await openContext(t), '/')
  const { keyboard } = page
  await stopTime(page)
  const focused = () => page.evaluate<string>('document.activeElement.textContent.replace(/\\s+/g, " ").trim()')
  /** Moves the focus forward until it is at the control, and checks that it can be seen there. */
  const tabTo = async (name: string) => {
    await waitFor(
      async () => {
        if ((await focused()) !== name) await keyboard.press('Tab')
        return (await focused()) === name
      },
      { label: `the focus at ${name}`, everyMs: 1 },
    )
    const outline = await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle')
    t.notSame(outline, 'none', `${name}: the focus is visible`)
  }
  await keyboard.press('Control+k')
  const option = page.getByRole('option', { selected: true })
  await page.getByRole('combobox', { name: 'Monitor, page or action' }).waitFor()
  await keyboard.type('monitors')
  await waitFor(async () => /^Monitors Page/.test(await readText(option)), { label: 'the page' })
  await keyboard.press('Enter')
  await page.waitForURL(`${origin}/monitors`)
  await waitFor(async () => (await page.locator('dialog').count()) === 0, { label: 'the closed palette' })

  // the key belongs to the list, and the address changes before the list is shown
  await page.locator('tr[data-id]').first().waitFor()
  await keyboard.press('/')
  await page.locator('input:focus').waitFor()
  await keyboard.type('till')
  await page.waitForURL(`${origin}/monitors?q=till`)
  await page.getByLabel('Select Till 3').waitFor()
  // out of the field, where keys write
  await keyboard.press('Tab')
  await keyboard.press('j')
  t.equal(await focused(), 'Till 1')
  await keyboard.press('x')
  await keyboard.press('j')
  await keyboard.press('x')
  t.equal(await readText(locateSelection(page)), '2 monitors selected')
  await keyboard.press('p')
  await page.getByRole('dialog').getByText('2 monitors change.').waitFor()
  await tabTo('Pause 2 monitors')
  await keyboard.press('Enter')
  await page.getByText('2 monitors changed.').waitFor()
  t.equal(await count('is_paused'), 2)
  await tabTo('Undo')
  await keyboard.press('Enter')
  await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' })
  t.equal(await count('is_paused'), 0)

  await keyboard.press('j')
  await tabTo('Till 1')
  await keyboard.press('Enter')
  await page.waitForURL(`${origin}/monitors/${till}`)
  await page.getByRole('heading', { level: 1, name: 'Till 1' }).waitFor()
  t.same(complaints, [])
})

t.test('Two tabs of a browser share one stream of events, which moves to the other tab when one closes', async t => {
  const streams = async () => {
    const text = await (await fetch(`${api.operator}/metrics`)).text()
    return Number(/^picket_event_streams (\d+)$/m.exec(text)?.[1])
  }
  /** Waits until a tab has received the state of the open stream so many times. */
  const waitForLive = (page: Page, times = 1) =>
    waitFor(() => page.evaluate<boolean>(`performance.getEntriesByName('picket-live').length >= ${times}`), {
      label: `the state of the stream, ${times}`,
    })
  await waitFor(async () => (await streams()) === 0, { label: 'no stream of the tests before' })
  const context = await openContext(t)
  const first = await openPage(context, '/monitors?q=till')
  await waitForLive(first.page)
  const second = await openPage(context, '/monitors?q=till')
  await waitForLive(second.page)
  t.equal(await streams(), 1)

  const rename = async (name: string, pages: Page[]) => {
    await api.call('PUT', `/monitors/${till}`, { key: person.key, body: { name } })
    for (const page of pages) await page.locator(`tr[data-id="${till}"]`).getByText(name).waitFor()
  }
  await rename('Till renamed', [first.page, second.page])
  t.equal(await streams(), 1)
  await first.page.close()
  await waitForLive(second.page, 2)
  await waitFor(async () => (await streams()) === 1, { label: 'one stream, of the other tab' })
  await rename('Till renamed again', [second.page])
  t.same([...first.complaints, ...second.complaints], [])
})
