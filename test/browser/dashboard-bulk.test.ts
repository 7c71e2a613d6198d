import type { Page } from 'playwright-core'
import t from 'tap'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { insertWatchedMonitors } from '../support/board.ts'
import { addSession, noteFocusAt, readOverflow, readText } from '../support/dashboard-browser.ts'
import { createPerson } from '../support/person.ts'
import type { Teardown } from '../support/teardown.ts'
import { insertMonitor } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'
import { openBrowser } from './open-browser.ts'

const api = await startApi(t, { HOST: 'localhost', RATE_LIMIT_PER_MINUTE: '1000000' })
const origin = api.origin.replace('127.0.0.1', 'localhost')
const { openTab } = await openBrowser(t)
const person = await createPerson(api, 'owner@example.com')
const viewer = await createPerson(api, 'viewer@example.com', { role: 'viewer', invitedBy: person })
const { body } = await api.call('GET', '/me', { key: person.key })
const projectId: string = body.data.project.id
await insertWatchedMonitors(api.db, projectId, 90)
for (const name of ['Till 1', 'Till 2', 'Till 3', 'Till 4']) await insertMonitor(api.db, projectId, { name })

const DESKTOP = { width: 1280, height: 900 }
const PHONE = { width: 390, height: 844 }

async function openPage(t: Teardown, path: string, token = person.token, viewport = DESKTOP) {
  // a change can be undone for a time that a busy machine needs for the next step
  const watched = await openTab(t, origin, { viewport, hasFixedTime: true })
  await addSession(watched.context, token)
  await watched.page.goto(origin + path)
  await watched.page.locator('button.search:enabled').waitFor()
  return watched
}

/** The number of monitors for which a condition holds in the database. */
async function count(condition: string): Promise<number> {
  const sql = `SELECT count(*)::integer AS count FROM monitors WHERE project_id = ? AND deleted_at IS NULL AND ${condition}`
  return (await query<{ count: number }>(api.db, sql, [projectId]))[0]!.count
}

const locateStatus = (page: Page, where: string) => page.locator(`${where} [role="status"]`)
const locateDialog = (page: Page) => page.getByRole('dialog')

t.test('Filter, select, see the difference, change, and undo', async t => {
  const { page, complaints } = await openPage(t, '/monitors')
  await page.getByLabel('Filter').fill('till')
  await page.getByLabel('Select Till 4').waitFor()
  await page.getByLabel('Select Till 1').click()
  await page.getByLabel('Select Till 3').click({ modifiers: ['Shift'] })
  t.equal(await readText(locateStatus(page, '.bulk-bar')), '3 monitors selected')
  await page.getByRole('button', { name: 'Select all 4 that match' }).click()
  t.equal(await readText(locateStatus(page, '.bulk-bar')), '4 monitors selected')
  await page.getByLabel('Select Till 2').click()
  t.same(await findAccessibilityProblems(page), [])

  await page.getByRole('button', { name: 'Change…' }).click()
  await locateDialog(page).getByLabel('Interval', { exact: true }).fill('999')
  await locateDialog(page).getByRole('button', { name: 'Show the difference' }).click()
  await locateDialog(page)
    .getByText(/change\.interval_seconds must be at most 3600/)
    .waitFor()
  t.match(complaints.splice(0), [/400/], 'browsers report refused requests')
  t.same(await findAccessibilityProblems(page), [], 'the form with an error')
  await locateDialog(page).getByLabel('Interval', { exact: true }).fill('10')
  await locateDialog(page).getByRole('button', { name: 'Show the difference' }).click()
  await locateDialog(page).getByText('3 monitors change.').waitFor()
  t.match(await readText(locateDialog(page)), /Till 1 Interval: \d+ \w+ → 10 min/)
  t.same(await findAccessibilityProblems(page), [], 'the difference')
  t.equal(await count('interval_seconds = 600'), 0, 'nothing has changed yet')
  await locateDialog(page).getByRole('button', { name: 'Change 3 monitors' }).click()
  await page.getByText('3 monitors changed.').waitFor()
  t.equal(await count(`interval_seconds = 600 AND name IN ('Till 1', 'Till 3', 'Till 4')`), 3)
  t.same(await findAccessibilityProblems(page), [], 'the result')

  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' })
  t.equal(await count('interval_seconds = 600'), 0)
  await page.getByRole('button', { name: 'Close' }).click()
  t.equal(await page.locator('.outcome').count(), 0)
  t.same(complaints, [])
})

t.test('Maintenance is planned for the selected monitors, and only for them', async t => {
  const { page, complaints } = await openPage(t, '/monitors?q=till')
  await page.getByLabel('Select Till 1').click()
  await page.getByLabel('Select Till 3').click()
  await page.getByRole('button', { name: 'Maintenance…' }).click()
  await page.waitForURL(/\/maintenance\/new\?monitors=\d+$/)
  await page.reload()
  await page.getByLabel('Title').fill('New tills')
  await page.getByRole('button', { name: 'Remove Till 3' }).waitFor()
  await page.getByRole('button', { name: 'Create the window' }).click()
  await page.waitForURL(/\/maintenance\/[0-9a-f-]{36}$/)
  const chosen = `id IN (SELECT m.monitor_id FROM maintenance_window_monitors m
    JOIN maintenance_windows w ON w.id = m.window_id WHERE w.title = 'New tills')`
  t.equal(await count(chosen), 2)
  t.equal(await count(`${chosen} AND name IN ('Till 1', 'Till 3')`), 2)
  await page.goto(`${origin}/maintenance/new`)
  await page.getByText('No monitor is chosen.').waitFor()
  t.same(complaints, [])
})

t.test('All monitors without an alert channel get one, which can be undone', async t => {
  const hook = { name: 'Pager', type: 'webhook', config: { url: 'https://hooks.example.com/x' } }
  const { id } = (await api.call('POST', '/alerts/channels', { key: person.key, body: hook })).body.data
  const channel = async () => (await api.call('GET', `/alerts/channels/${id}`, { key: person.key })).body.data
  const unalerted = async () =>
    (await api.call('GET', '/monitors?alerted=false&paused=false', { key: person.key })).body.meta.total
  const before = await unalerted()
  const { page, complaints } = await openPage(t, '/monitors/unalerted')
  await page.getByRole('button', { name: `Alert it about ${before} monitors` }).click()
  await page.getByText(`Pager is alerted about ${before} monitors.`).waitFor()
  await waitFor(async () => (await channel()).is_default, { label: 'new monitors alert it' })
  t.equal(await unalerted(), 0)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('The rules of Pager are removed again.').waitFor()
  await waitFor(async () => !(await channel()).is_default, { label: 'new monitors do not alert it' })
  t.equal(await unalerted(), before)
  t.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0)
  await api.call('DELETE', `/alerts/channels/${id}`, { key: person.key })
  t.same(complaints, [])
})

t.test('Deleting needs the number of monitors, and a refused monitor is named with the reason', async t => {
  const names = ['Old 1', 'Old 2']
  const ids = await Promise.all(names.map(name => insertMonitor(api.db, projectId, { name })))
  const { page, complaints } = await openPage(t, '/monitors?q=old')
  await page.getByLabel('Select Old 1').click()
  await page.getByLabel('Select Old 2').click()
  // another person deletes one of them
  await api.call('DELETE', `/monitors/${ids[1]}`, { key: person.key })
  await page.getByRole('button', { name: 'Delete…' }).click()
  await locateDialog(page).getByText('1 monitor changes, 1 monitor is refused.').waitFor()
  t.match(await readText(locateDialog(page)), /Refused: monitor not found/)
  const remove = locateDialog(page).getByRole('button', { name: 'Delete 1 monitor' })
  t.ok(await remove.isDisabled())
  await locateDialog(page)
    .getByLabel(/^Type 1 to delete/)
    .fill('1')
  await remove.click()
  await page.getByText('1 monitor changed, 1 monitor was refused.').waitFor()
  t.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0, 'a deletion has no undo')
  t.equal(await count(`name LIKE 'Old %'`), 0)
  t.same(complaints, [])
})

t.test('In the list of monitors, c checks the row with the focus now, and e opens its settings', async t => {
  const id = await insertMonitor(api.db, projectId, { name: 'Kiosk', regions: ['us-east', 'eu-west'] })
  const { page, complaints } = await openPage(t, '/monitors?q=kiosk')
  const row = page.getByRole('link', { name: 'Kiosk' })
  await row.waitFor()
  await page.keyboard.press('c')
  await page.keyboard.press('j')
  await waitFor(() => row.evaluate(link => link === link.ownerDocument.activeElement), { label: 'focus on the row' })
  await page.keyboard.press('c')
  const result = page.locator('.outcome')
  await result.getByText('Checked Kiosk now, at').waitFor()
  t.match(
    await readText(result.getByRole('list')),
    'us-east Unknown no probe of us-east is connected eu-west Unknown no probe of eu-west is connected',
  )
  t.same(await findAccessibilityProblems(page), [])
  await result.getByRole('button', { name: 'Close' }).click()
  t.equal(await page.getByText('Checked Kiosk now').count(), 0)
  await row.focus()
  await page.keyboard.press('e')
  await page.waitForURL(`${origin}/monitors/${id}/settings`)
  t.same(complaints, [])
})

t.test('The list works with keys only, which do nothing in a field and can be switched off', async t => {
  const { page, complaints } = await openPage(t, '/monitors')
  const { keyboard } = page
  const focused = () => page.evaluate<string>('document.activeElement.textContent.slice(0, 100)')
  await page.locator('tr[data-id]').first().waitFor()
  await keyboard.press('/')
  await page.locator('input:focus').waitFor()
  await keyboard.type('till xjkp?')
  t.equal(await page.getByLabel('Filter').inputValue(), 'till xjkp?', 'a field receives the keys')
  await page.getByLabel('Filter').fill('till')
  await page.getByLabel('Select Till 4').waitFor()
  await page.getByRole('heading', { level: 1 }).click()
  const moves = [
    ['j', 'Till 1'],
    ['j', 'Till 2'],
    ['j', 'Till 3'],
    ['k', 'Till 2'],
  ] as const
  for (const [key, name] of moves) {
    await keyboard.press(key)
    await waitFor(async () => (await focused()) === name, { label: `focus on ${name} after ${key}` })
  }
  await keyboard.press('x')
  t.ok(await page.getByLabel('Select Till 2').isChecked())
  const focusInDialog = await noteFocusAt(page, 'dialog .actions .main')
  await keyboard.press('p')
  await locateDialog(page).getByText('Checks: active → paused').waitFor()
  t.equal(await focusInDialog(), 'Pause 1 monitor')
  await keyboard.press('Escape')
  await locateDialog(page).waitFor({ state: 'detached' })
  await waitFor(async () => (await focused()) === 'Till 2', { label: 'the focus is where it was' })
  await keyboard.press('p')
  const focusAtResult = await noteFocusAt(page, 'section.outcome')
  await locateDialog(page).getByRole('button', { name: 'Pause 1 monitor' }).press('Enter')
  await page.getByText('1 monitor changed.').waitFor()
  t.match(await focusAtResult(), /^1 monitor changed/)
  t.equal(await count('is_paused'), 1)

  await page.getByRole('link', { name: 'Incidents', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Incidents' }).waitFor()
  const focusInList = await noteFocusAt(page, 'tr[data-id]', 'j')
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Monitors' }).click()
  t.match(await focusInList(), /^(Till|Service)/, 'the keys of a list work as soon as its rows are there')

  await keyboard.press('?')
  await locateDialog(page).getByRole('heading', { name: 'List of monitors' }).waitFor()
  t.same(await findAccessibilityProblems(page), [], 'the list of keys')
  const saved = page.waitForResponse(response => response.request().method() !== 'GET')
  await locateDialog(page)
    .getByLabel(/^Use keys without Ctrl/)
    .press('Space')
  t.equal((await saved).status(), 200)
  await keyboard.press('Escape')
  await page.reload()
  await page.locator('button.search:enabled').waitFor()
  await page.getByRole('heading', { level: 1 }).click()
  await keyboard.press('j')
  await keyboard.press('?')
  t.equal(await locateDialog(page).count(), 0)
  t.notMatch(await focused(), /^(Till|Service)/)
  t.same(complaints, [])
})

t.test('The palette opens monitors, pages and actions by keys and by its button', async t => {
  const { page, complaints } = await openPage(t, '/')
  const { keyboard } = page
  await keyboard.press('Control+k')
  const field = page.getByRole('combobox', { name: 'Monitor, page or action' })
  await field.waitFor()
  t.same(await findAccessibilityProblems(page), [])
  await keyboard.type('till')
  await page.getByRole('option', { name: /^Till 1/ }).waitFor()
  await keyboard.press('ArrowDown')
  const current = page.getByRole('option', { selected: true })
  // Till 2 is paused, so it comes last
  t.match(await readText(current), /^Till 3/)
  t.equal(await field.getAttribute('aria-activedescendant'), await current.getAttribute('id'))
  t.same(await findAccessibilityProblems(page), [], 'with monitors')
  await keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Till 3' }).waitFor()
  t.equal(await locateDialog(page).count(), 0)

  await page.getByRole('button', { name: 'Go to' }).click()
  await field.fill('incid')
  await page
    .getByRole('option', { name: /^Incidents/ })
    .first()
    .click()
  await page.waitForURL(`${origin}/incidents`)
  await keyboard.press('Control+k')
  await field.fill('till')
  await page.getByRole('option', { name: /^Till 1/ }).waitFor()
  // Enter before the monitors of the new text are known
  await page.evaluate(async () => {
    const input = document.querySelector<HTMLInputElement>('dialog input')!
    input.value = 'page'
    input.dispatchEvent(new Event('input', { bubbles: true }))
    for (let i = 0; i < 20; i++) await null
    input.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))
  })
  await page.getByRole('heading', { level: 1, name: 'Status pages' }).waitFor()
  await keyboard.press('Control+k')
  await field.fill('no such thing')
  await locateDialog(page).getByText('Nothing matches.').waitFor()
  await keyboard.press('Escape')
  await locateDialog(page).waitFor({ state: 'detached' })
  t.same(complaints, [])
})

t.test('On a phone the selection and its dialog fit, in light and dark', async t => {
  const { page, complaints } = await openPage(t, '/monitors?q=till', person.token, PHONE)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.getByLabel('Select Till 3').click()
    await page.getByRole('button', { name: 'Change…' }).waitFor()
    t.equal(await readOverflow(page), 0, colorScheme)
    t.same(await findAccessibilityProblems(page), [], colorScheme)
    await page.getByRole('button', { name: 'Change…' }).click()
    await locateDialog(page).getByLabel('What changes').selectOption('regions')
    t.equal(await readOverflow(page), 0, `${colorScheme}: the dialog`)
    t.same(await findAccessibilityProblems(page), [], `${colorScheme}: the dialog`)
    await locateDialog(page).getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Clear' }).click()
  }
  t.same(complaints, [])
})

t.test('A viewer moves through the list by keys and has no check boxes, and the palette has no changes', async t => {
  const { page, complaints } = await openPage(t, '/monitors', viewer.token)
  t.equal(await page.locator('tr[data-id]').first().getByRole('checkbox').count(), 0)
  const first = page.locator('a.row').first()
  await page.keyboard.press('j')
  await waitFor(() => first.evaluate(link => link === link.ownerDocument.activeElement), { label: 'focus on a row' })
  for (const key of ['c', 'e', 'p', 'm']) await page.keyboard.press(key)
  t.equal(await locateDialog(page).count(), 0)
  t.equal(await page.locator('.check-progress').count(), 0)
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Monitor, page or action' }).fill('new')
  await page.getByText('Nothing matches.').waitFor()
  t.same(complaints, [])
})
