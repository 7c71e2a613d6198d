import t from 'tap'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { addSession, readOverflow, runAtOnce, typeScript } from '../support/dashboard-browser.ts'
import { createPerson } from '../support/person.ts'
import type { Teardown } from '../support/teardown.ts'
import { insertMonitor } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'
import { openWatchedPage } from '../support/watched-page.ts'
import { openBrowser } from './open-browser.ts'

const api = await startApi(t, { HOST: 'localhost', RATE_LIMIT_PER_MINUTE: '1000000' })
const origin = api.origin.replace('127.0.0.1', 'localhost')
const { openTab, newContext } = await openBrowser(t)
const person = await createPerson(api, 'owner@example.com')
const call = async (method: string, path: string, body?: unknown) =>
  (await api.call(method, path, { key: person.key, body })).body.data
const me = await call('GET', '/me')
const monitorIds: string[] = []
for (const name of ['Shop', 'Shop search', 'Blog'])
  monitorIds.push(await insertMonitor(api.db, me.project.id, { name }))
const page = await call('POST', '/status-pages', { name: 'Acme', slug: 'acme' })
await call('POST', `/status-pages/${page.id}/components`, { name: 'Shop', monitor_id: monitorIds[0] })
await call('PUT', `/status-pages/${page.id}`, { is_published: true })

const DESKTOP = { width: 1280, height: 900 }
const PHONE = { width: 390, height: 844 }

type OpenOptions = { token?: string; viewport?: typeof PHONE; colorScheme?: 'dark' }

async function openAt(t: Teardown, path: string, { token = person.token, ...options }: OpenOptions = {}) {
  const watched = await openTab(t, origin, { viewport: DESKTOP, timezoneId: 'Europe/Berlin', ...options })
  await addSession(watched.context, token)
  await watched.page.goto(origin + path)
  await watched.page.locator('button.search:enabled').waitFor()
  const shoot = (name: string) =>
    process.env.PICKET_SHOTS
      ? watched.page.screenshot({ path: `${process.env.PICKET_SHOTS}/${name}.png`, fullPage: true })
      : Promise.resolve()
  return { ...watched, shoot }
}

t.test('A person plans maintenance by a query, sees what it will do, and finds it in the calendar', async t => {
  const { page: tab, complaints, shoot } = await openAt(t, '/maintenance')
  await tab.getByText('There is no maintenance window.').waitFor()
  t.same(await findAccessibilityProblems(tab), [], 'without windows')
  await shoot('no-windows')
  // the last day of the current month can be today, which proposes the next hour
  await tab.getByRole('link', { name: 'Next', exact: true }).click()
  await tab.getByRole('link', { name: 'This month' }).waitFor()
  await tab.getByRole('grid').getByRole('gridcell').last().click()
  await tab.waitForURL(/\/maintenance\/new\?/)
  t.match(await tab.getByLabel('Begins').inputValue(), /T02:00$/, 'the first window can be planned in the calendar too')
  await tab.goBack()
  await tab.getByRole('link', { name: 'New window' }).click()
  await tab.getByLabel('Title').fill('Database upgrade')
  await tab.getByRole('button', { name: 'Create the window' }).click()
  await tab.getByText('choose at least one monitor.').waitFor()
  await tab.getByLabel('Find monitors').fill('shop')
  await tab.getByRole('button', { name: 'Add 2' }).click()
  await tab.getByText('2 monitors').waitFor()
  await tab.getByLabel('What happens (optional)').fill('The shop is read-only.')
  const messages = tab.getByRole('complementary', { name: 'Messages to subscribers' })
  await messages.getByText('Planned maintenance: Database upgrade').waitFor()
  await messages.getByText('0 subscribers').waitFor()
  t.same(await findAccessibilityProblems(tab), [], 'the form')
  await shoot('form')
  const begins = tab.getByLabel('Begins')
  const typed = await begins.inputValue()
  await tab.locator('.account > summary').click()
  await tab.getByRole('button', { name: 'Display' }).click()
  const dialog = tab.getByRole('dialog')
  const chooseZone = async (zone: string, isShown: (text: string) => boolean) => {
    await dialog.getByLabel('Time zone').fill(zone)
    await dialog.getByLabel('Time zone').press('Enter')
    await waitFor(async () => isShown(await begins.inputValue()), { label: `the time in ${zone}` })
  }
  await chooseZone('UTC', text => text !== typed)
  await chooseZone('Europe/Berlin', text => text === typed)
  await dialog.getByRole('button', { name: 'Close' }).click()
  await tab.locator('.account > summary').click()
  t.equal(await tab.getByLabel('Title').inputValue(), 'Database upgrade', 'what was typed stays')
  await tab.getByText('Recurring').click()
  await tab.getByText('Once').click()
  t.equal(await begins.inputValue(), typed, 'the time stays')
  await tab.getByText('Recurring').click()
  t.equal(await tab.getByRole('complementary', { name: 'Next periods' }).getByRole('listitem').count(), 5)
  t.equal(await tab.getByLabel('Notify subscribers').isChecked(), false, 'recurring windows send nothing by default')
  await shoot('recurring')
  await tab.getByLabel('Lasts', { exact: true }).fill('60')
  const isStored = "[...document.querySelectorAll('button')].some(one => one.textContent === 'Save the changes')"
  const chosen = runAtOnce(tab, isStored, typeScript('[name=repeat]', 'daily'))
  await tab.getByRole('button', { name: 'Create the window' }).click()
  await tab.waitForURL(/\/maintenance\/[0-9a-f-]{36}$/)
  const [window] = await call('GET', '/maintenance-windows')
  t.match(window, { title: 'Database upgrade', cron: '0 2 * * 0', time_zone: 'Europe/Berlin', duration_minutes: 3_600 })
  t.same(window.monitor_ids.toSorted(), monitorIds.slice(0, 2).toSorted())

  await chosen
  t.equal(await tab.getByLabel('How often').inputValue(), 'daily', 'what is chosen at once stays')
  await tab.getByLabel('Lasts', { exact: true }).fill('1')
  await tab.getByRole('button', { name: 'Save the changes' }).click()
  await tab.getByText('Saved.').waitFor()
  await tab.getByRole('link', { name: 'Maintenance', exact: true }).first().click()
  const calendar = tab.getByRole('grid', { name: /20\d\d$/ })
  // the current month has no more periods on its last day
  await tab.getByRole('link', { name: 'Next', exact: true }).click()
  await tab.waitForURL(/month=20\d\d-\d\d/)
  await calendar
    .getByRole('link', { name: /02:00 Database upgrade/ })
    .first()
    .waitFor()
  t.same(await findAccessibilityProblems(tab), [], 'the calendar')
  await shoot('calendar')
  t.ok((await calendar.getByRole('link', { name: /02:00 Database upgrade/ }).count()) >= 28)
  t.same(complaints, [])
})

t.test('A window is deleted by its title, and the pages fit on a phone in the dark', async t => {
  const { page: tab, complaints, shoot } = await openAt(t, '/maintenance', { viewport: PHONE, colorScheme: 'dark' })
  t.ok((await readOverflow(tab)) <= 0, 'the calendar')
  await shoot('calendar-phone')
  await tab.getByRole('link', { name: 'Database upgrade' }).last().click()
  await tab.getByRole('heading', { level: 1, name: 'Database upgrade' }).waitFor()
  t.ok((await readOverflow(tab)) <= 0, 'the form')
  t.same(await findAccessibilityProblems(tab), [], 'the form')
  await shoot('form-phone')
  await tab.getByLabel('to delete the window').fill('Database upgrade')
  await tab.getByRole('button', { name: 'Delete the window' }).click()
  await tab.getByText('There is no maintenance window.').waitFor()
  t.same(await call('GET', '/maintenance-windows'), [])
  t.same(complaints, [], 'the deleted window is not read again')
})

/** A window on each Tuesday, and the calendar of next month, whose second week has days of that month only. */
async function openNextMonth(t: Teardown, options: { token?: string } = {}) {
  const body = { title: 'Backup', monitor_ids: monitorIds.slice(0, 1), cron: '0 10 * * 2', duration_minutes: 60 }
  const { id } = await call('POST', '/maintenance-windows', { ...body, time_zone: 'Europe/Berlin' })
  t.teardown(() => call('DELETE', `/maintenance-windows/${id}`))
  const opened = await openAt(t, '/maintenance', options)
  const { page: tab } = opened
  await tab.getByRole('link', { name: 'Next', exact: true }).click()
  await tab.getByRole('link', { name: 'This month' }).waitFor()
  const cells = tab.locator('.calendar tbody tr').nth(1).locator('td')
  const days = await cells.evaluateAll(all => all.map(cell => cell.getAttribute('data-day')!))
  /** Presses the button of the mouse on a day of the second week, and moves to another. */
  const press = async (from: number, to: number) => {
    for (const [i, cell] of [cells.nth(from), cells.nth(to)].entries()) {
      const box = (await cell.boundingBox())!
      await tab.mouse.move(box.x + box.width / 2, box.y + box.height - 5, { steps: 3 })
      if (i === 0) await tab.mouse.down()
    }
  }
  const countChosen = (count: number) =>
    waitFor(async () => (await tab.locator('td[aria-selected="true"]').count()) === count, { label: `${count} days` })
  const readTimes = async () => {
    await tab.waitForURL(/\/maintenance\/new\?/)
    return [await tab.getByLabel('Begins').inputValue(), await tab.getByLabel('Ends').inputValue()]
  }
  return { ...opened, id, days, cells, press, countChosen, readTimes }
}

t.test('Dragging over days of the calendar opens the form with their begin and end', async t => {
  const { page: tab, complaints, shoot, id, days, cells, press, countChosen, readTimes } = await openNextMonth(t)
  await press(1, 3)
  await countChosen(3)
  await tab.getByRole('status').getByText(', 3 days.').waitFor()
  t.same(await findAccessibilityProblems(tab), [], 'during the drag')
  await shoot('calendar-drag')
  await tab.mouse.up()
  t.same(await readTimes(), [`${days[1]}T00:00`, `${days[4]}T00:00`])
  await tab.goBack()
  await press(5, 2)
  await countChosen(4)
  await tab.mouse.up()
  t.same(await readTimes(), [`${days[2]}T00:00`, `${days[6]}T00:00`], 'from the last day to the first')
  await tab.goBack()
  await cells.nth(0).click({ position: { x: 60, y: 80 } })
  t.same(await readTimes(), [`${days[0]}T02:00`, `${days[0]}T04:00`], 'a click on one day')
  await tab.goBack()
  await cells.nth(1).getByRole('link', { name: '10:00 Backup' }).click()
  await tab.waitForURL(`**/maintenance/${id}`)
  t.same(complaints, [], 'no page asks before it is left')
})

t.test('Escape, or releasing outside of the calendar, ends a drag without opening the form', async t => {
  const { page: tab, complaints, press, countChosen, cells } = await openNextMonth(t)
  await press(1, 3)
  await countChosen(3)
  await tab.keyboard.press('Escape')
  await countChosen(0)
  await tab.mouse.up()
  await press(2, 2)
  await countChosen(1)
  await tab.keyboard.press('Escape')
  await tab.mouse.up()
  await press(1, 2)
  await countChosen(2)
  const title = (await tab.getByRole('heading', { level: 1 }).boundingBox())!
  await tab.mouse.move(title.x + 5, title.y + 5)
  await countChosen(0)
  await tab.mouse.up()
  await cells.nth(1).getByRole('link', { name: '10:00 Backup' }).click()
  await tab.getByRole('heading', { level: 1, name: 'Backup' }).waitFor()
  await tab.goBack()
  await tab.waitForURL(/\/maintenance\?month=/)
  t.same(complaints, [])
})

t.test('Days are chosen with keys: arrows move, Shift chooses several, Enter opens the form', async t => {
  const { page: tab, complaints, shoot, days, countChosen, readTimes } = await openNextMonth(t)
  const readFocus = () => tab.locator('button.day-label:focus').locator('xpath=..').getAttribute('data-day')
  t.equal(await tab.locator('button.day-label[tabindex="0"]').count(), 1, 'one stop of the Tab key')
  await tab.getByRole('link', { name: 'Next', exact: true }).focus()
  await tab.keyboard.press('Tab')
  // the first week can have windows on days of the month before
  const isAtWindow = () => tab.evaluate(() => document.activeElement?.matches('td[data-day] a') === true)
  while (await isAtWindow()) await tab.keyboard.press('Tab')
  t.match(await readFocus(), /-01$/, 'the first of the month')
  await tab.keyboard.press('ArrowDown')
  await tab.keyboard.press('Home')
  t.equal(await readFocus(), days[0])
  await tab.keyboard.press('ArrowRight')
  await tab.keyboard.press('Shift+ArrowDown')
  await countChosen(7)
  await tab.getByText('A window lasts at most 7 days.').waitFor()
  await tab.keyboard.press('Escape')
  await countChosen(0)
  await tab.locator(`td[data-day="${days[1]}"] > button`).focus()
  await tab.keyboard.press('Shift+ArrowRight')
  await tab.keyboard.press('Shift+ArrowRight')
  t.equal(await readFocus(), days[3])
  t.same(await findAccessibilityProblems(tab), [])
  await shoot('calendar-keys')
  await tab.keyboard.press('Enter')
  t.same(await readTimes(), [`${days[1]}T00:00`, `${days[4]}T00:00`])
  await tab.goBack()
  await tab.getByRole('link', { name: 'This month' }).click()
  await tab.getByRole('link', { name: 'This month' }).waitFor({ state: 'detached' })
  // the last week of the month before can have days of this month
  const month = await tab.locator('#calendar-title').textContent()
  await tab.getByRole('link', { name: 'Previous', exact: true }).click()
  await waitFor(async () => (await tab.locator('#calendar-title').textContent()) !== month, { label: 'another month' })
  await tab.getByRole('link', { name: 'Previous', exact: true }).click()
  await tab.getByRole('table', { name: /20\d\d$/ }).waitFor()
  t.equal(await tab.locator('button.day-label').count(), 0, 'a month that is over has no day to choose')
  t.same(complaints, [])
})

t.test('On a phone a swipe over the calendar scrolls, and a tap on a day opens the form', async t => {
  const shape = {
    viewport: { width: 390, height: 600 },
    hasTouch: true,
    isMobile: true,
    colorScheme: 'dark',
  } as const
  const { id } = await call('POST', '/maintenance-windows', {
    ...{ title: 'Backup', monitor_ids: monitorIds.slice(0, 1), time_zone: 'Europe/Berlin' },
    ...{ cron: '0 10 * * 2', duration_minutes: 60 },
  })
  t.teardown(() => call('DELETE', `/maintenance-windows/${id}`))
  const context = await newContext({ ...shape, timezoneId: 'Europe/Berlin' })
  await addSession(context, person.token)
  const { page: tab, complaints } = await openWatchedPage(context, origin)
  await tab.goto(`${origin}/maintenance`)
  await tab.getByRole('link', { name: 'Next', exact: true }).tap()
  await tab.getByRole('link', { name: 'This month' }).waitFor()
  await tab.locator('button.day-label').first().waitFor()
  t.ok((await readOverflow(tab)) <= 0)
  t.same(await findAccessibilityProblems(tab), [])
  if (process.env.PICKET_SHOTS) await tab.screenshot({ path: `${process.env.PICKET_SHOTS}/touch.png`, fullPage: true })
  const day = tab.locator('.calendar tbody tr').nth(1).locator('td').nth(2)
  const button = day.getByRole('button')
  await button.evaluate(element => element.scrollIntoView({ block: 'center' }))
  const { x, y } = (await button.boundingBox())!
  const devtools = await context.newCDPSession(tab)
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...touchPoints: { x: number; y: number }[]) =>
    devtools.send('Input.dispatchTouchEvent', { type, touchPoints })
  // a tap before the end of a swipe belongs to the swipe
  await tab.evaluate(`document.addEventListener('scrollend', () => (window.hasScrolled = true), { capture: true })`)
  await touch('touchStart', { x: x + 20, y: y + 20 })
  for (const moved of [40, 80, 160]) await touch('touchMove', { x: x + 20 + moved / 2, y: y + 20 - moved })
  t.equal(await tab.locator('td[aria-selected="true"]').count(), 0, 'no day is marked')
  await touch('touchEnd')
  await waitFor(() => tab.evaluate('window.hasScrolled'), { label: 'the end of the swipe' })
  t.ok((await button.boundingBox())!.y < y - 50, 'the page has scrolled')
  await button.tap()
  await tab.waitForURL(/\/maintenance\/new\?/)
  t.match(await tab.getByLabel('Begins').inputValue(), /^20\d\d-\d\d-\d\dT02:00$/)
  t.same(complaints, [])
})

t.test('A viewer sees the calendar without a way to choose days', async t => {
  const viewer = await createPerson(api, 'viewer@example.com', { role: 'viewer', invitedBy: person })
  const { page: tab, complaints, press, cells } = await openNextMonth(t, { token: viewer.token })
  await press(1, 3)
  await tab.mouse.up()
  t.equal(await tab.locator('button.day-label').count(), 0)
  await tab.getByRole('table', { name: /20\d\d$/ }).waitFor()
  await cells.nth(1).getByRole('link', { name: '10:00 Backup' }).click()
  await tab.getByRole('heading', { level: 1, name: 'Backup' }).waitFor()
  t.same(complaints, [])
})

t.test(
  'The form of a window that happens once has the begin and end of its address, and says why others are not used',
  async t => {
    const { page: tab, complaints } = await openAt(
      t,
      '/maintenance/new?starts_at=2099-07-01T10:00:00Z&ends_at=2099-07-01T12:30:00Z',
    )
    await tab.getByLabel('Begins').waitFor()
    const readTimes = async () => [
      await tab.getByLabel('Begins').inputValue(),
      await tab.getByLabel('Ends').inputValue(),
    ]
    t.same(await readTimes(), ['2099-07-01T12:00', '2099-07-01T14:30'], 'in the time zone of the person')
    await tab.goto(`${origin}/maintenance/new?starts_at=2099-07-01T10:00:00Z&ends_at=tomorrow`)
    await tab.getByText('not used: ends_at must be a date and time such as').waitFor()
    await tab.goto(`${origin}/maintenance/new?starts_at=2099-07-01T10:00:00Z&ends_at=2099-07-01T09:00:00Z`)
    await tab.getByText('not used: ends_at must be after starts_at.').waitFor()
    t.notMatch(await readTimes(), [/^2099/, /^2099/])
    t.same(await findAccessibilityProblems(tab), [])
    await tab.getByRole('link', { name: 'Maintenance', exact: true }).first().click()
    await tab.waitForURL(`${origin}/maintenance`)
    t.same(complaints, [], 'no question, because nothing was typed')

    const blog = monitorIds[2]!
    await call('PUT', `/monitors/${blog}`, { tags: ['late'] })
    for (const [query, title] of [
      ['blog', 'By name'],
      ['tag:late', 'By tag'],
    ] as const) {
      await tab.goto(`${origin}/maintenance/new?starts_at=2099-07-01T10:00:00Z&ends_at=2099-07-01T12:30:00Z`)
      await tab.getByLabel('Title').fill(title)
      await tab.getByLabel('Find monitors').fill(query)
      await tab.getByRole('button', { name: 'Add 1', exact: true }).click()
      await tab.getByRole('button', { name: 'Create the window' }).click()
      await tab.waitForURL(/\/maintenance\/[0-9a-f-]{36}$/)
      t.match(await call('GET', `/maintenance-windows/${tab.url().split('/').at(-1)}`), {
        ...{ title, monitor_ids: [blog], cron: null, duration_minutes: null, notify_subscribers: true },
        ...{ starts_at: '2099-07-01T10:00:00.000Z', ends_at: '2099-07-01T12:30:00.000Z' },
      })
    }
  },
)

t.test(
  'The pages about the reach of a status page show what the plan allows, its snippets and a live badge',
  async t => {
    const { page: tab, complaints, shoot } = await openAt(t, `/pages/${page.id}/subscribers`)
    await tab.getByText('There is no confirmed subscriber.').waitFor()
    t.same(await findAccessibilityProblems(tab), [], 'the subscribers')
    await shoot('subscribers-empty')
    await tab.getByRole('link', { name: 'Embeds' }).click()
    const badge = tab.getByRole('img', { name: 'The badge now' })
    await badge.waitFor()
    const readWidth = () => badge.evaluate(image => (image as unknown as { naturalWidth: number }).naturalWidth)
    await waitFor(async () => (await readWidth()) > 40, { label: 'the badge is loaded' })
    await tab.getByLabel('Shows').selectOption('uptime')
    await tab.getByText('badge.svg?type=uptime', { exact: false }).first().waitFor()
    t.same(await findAccessibilityProblems(tab), [], 'the embeds')
    await shoot('embeds')
    await tab.getByRole('link', { name: 'Domain' }).click()
    await tab.getByText('has no custom domains. The operator of this installation changes plans.').waitFor()
    await tab.getByText(`npm run admin -- plan set ${me.organization.id} pro`).waitFor()
    t.same(await findAccessibilityProblems(tab), [], 'a plan without domains')
    await shoot('domain-plan')
    t.same(complaints, [])
  },
)

t.test('A domain that is refused says why at its field, and one that is set shows its records to copy', async t => {
  await execute(api.db, `UPDATE organizations SET plan = 'pro' WHERE id = ?`, [me.organization.id])
  const { page: tab, complaints, shoot } = await openAt(t, `/pages/${page.id}/domain`)
  await tab.getByLabel('Domain').fill('localhost')
  await tab.getByRole('button', { name: 'Set the domain' }).click()
  await tab.locator('#field-domain[aria-invalid="true"]').waitFor()
  t.match(complaints.splice(0), [/400/], 'browsers report refused requests')
  await tab.getByLabel('Domain').fill('status.picket-test.example')
  await tab.getByRole('button', { name: 'Set the domain' }).click()
  await tab.getByRole('heading', { name: 'Progress' }).waitFor()
  await tab.getByText('_picket-challenge.status.picket-test.example').first().waitFor()
  await tab.getByText('This installation has the name localhost, which visitors cannot reach.').waitFor()
  t.same(await findAccessibilityProblems(tab), [], 'the analysis')
  await shoot('domain')
  await tab.getByLabel('to delete the domain').fill('status.picket-test.example')
  await tab.getByRole('button', { name: 'Delete the domain' }).click()
  await tab.getByRole('button', { name: 'Set the domain' }).waitFor()
  t.equal((await call('GET', `/status-pages/${page.id}`)).custom_domain, null)
  t.same(complaints, [])
})
