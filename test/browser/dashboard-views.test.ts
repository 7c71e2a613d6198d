import type { Page } from 'playwright-core'
import t from 'tap'
import { startApi } from '../support/api-server.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { addSession, readOverflow, runAtOnce } from '../support/dashboard-browser.ts'
import { createPerson } from '../support/person.ts'
import type { Teardown } from '../support/teardown.ts'
import { insertMonitor } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'
import { openBrowser } from './open-browser.ts'

// takes about 60 s

const api = await startApi(t, { HOST: 'localhost', RATE_LIMIT_PER_MINUTE: '1000000' })
const origin = api.origin.replace('127.0.0.1', 'localhost')
const { openTab } = await openBrowser(t)
const person = await createPerson(api, 'owner@example.com')
const viewer = await createPerson(api, 'viewer@example.com', { role: 'viewer', invitedBy: person })
const projectId: string = (await api.call('GET', '/me', { key: person.key })).body.data.project.id
for (const name of ['Till 1', 'Till 2', 'Mail']) await insertMonitor(api.db, projectId, { name })

async function openPage(t: Teardown, path: string, token: string, viewport = { width: 1280, height: 900 }) {
  const watched = await openTab(t, origin, { viewport, colorScheme: 'light', reducedMotion: 'reduce' })
  await addSession(watched.context, token)
  await watched.page.goto(origin + path)
  await watched.page.locator('button.search:enabled').waitFor()
  return watched
}

t.test('A filter is saved, opened from the list and the palette, renamed, shared and deleted', async t => {
  const { page, complaints } = await openPage(t, '/monitors', person.token)
  await page.getByLabel('Filter').fill('till')
  await page.getByRole('button', { name: 'Save as view' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText(/name must/).waitFor()
  t.match(complaints.splice(0), [/400/], 'browsers report refused requests')
  await dialog.getByLabel('Name').fill('Tills')
  t.same(await findAccessibilityProblems(page), [], 'the dialog')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  const views = page.getByRole('navigation', { name: 'Views' })
  await views.getByRole('link', { name: 'Tills' }).waitFor()
  t.same(await findAccessibilityProblems(page), [], 'the list')

  await page.goto(`${origin}/monitors`)
  await views.getByRole('link', { name: 'Tills' }).click()
  await page.getByRole('link', { name: 'Mail' }).waitFor({ state: 'detached' })
  t.equal(await page.getByLabel('Filter').inputValue(), 'till')

  await page.goto(origin)
  await page.locator('button.search:enabled').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('tills')
  await page.getByRole('option', { name: 'Tills View' }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/monitors\?q=till$/)

  await page.getByRole('button', { name: 'Edit view' }).click()
  await dialog.getByLabel('Name').fill('All tills')
  await dialog.getByLabel('Share with the organization').check()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await views.getByRole('link', { name: 'All tills' }).waitFor()

  const other = await openPage(t, '/monitors?q=till', viewer.token)
  await other.page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'All tills' }).waitFor()
  t.equal(await other.page.getByRole('button', { name: 'Edit view' }).count(), 0, 'a viewer does not change it')
  t.same(other.complaints, [])

  await page.getByRole('button', { name: 'Edit view' }).click()
  await dialog.getByRole('button', { name: 'Delete…' }).click()
  await dialog.getByRole('button', { name: 'Delete the view now' }).click()
  await page.getByRole('button', { name: 'Save as view' }).waitFor()
  t.equal(await views.count(), 0)
  t.same(complaints, [])
})

t.test('The menu of the account closes by Escape, by a click outside it, and when a link of it is opened', async t => {
  const { page, complaints } = await openPage(t, '/monitors', viewer.token)
  const menu = page.locator('.account > summary')
  const isOpen = async () => (await page.locator('.account[open]').count()) === 1
  await menu.click()
  t.ok(await isOpen())
  await page.keyboard.press('Escape')
  t.notOk(await isOpen(), 'after Escape')
  await menu.click()
  t.ok(await isOpen())
  await page.getByRole('heading', { level: 1 }).click()
  t.notOk(await isOpen(), 'after a click outside it')
  await menu.click()
  await page.locator('.account').getByRole('link', { name: 'Settings' }).click()
  await page.waitForURL(`${origin}/settings`)
  t.notOk(await isOpen(), 'after a link')
  t.same(complaints, [])
})

t.test(
  'A theme and a density are chosen, apply at once, and stay after loading without a change of colour',
  async t => {
    const { page, complaints } = await openPage(t, '/monitors', viewer.token)
    const background = () =>
      page.evaluate('getComputedStyle(document.documentElement).backgroundColor') as Promise<string>
    const height = async () => (await page.locator('tr[data-id]').first().boundingBox())!.height
    const [light, compact] = [await background(), await height()]
    await page.locator('.account > summary').click()
    await page.getByRole('button', { name: 'Display' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    t.same(await findAccessibilityProblems(page), [])
    await dialog.getByLabel('Theme').selectOption('dark')
    await waitFor(async () => (await background()) !== light, { label: 'dark' })
    await dialog.getByLabel('Rows').selectOption('comfortable')
    await waitFor(async () => (await height()) > compact, { label: 'higher rows' })
    t.same(await findAccessibilityProblems(page), [], 'in dark by choice')
    await dialog.getByLabel('Time zone').fill('Mars/Olympus')
    await dialog.getByLabel('Time zone').press('Enter')
    await dialog.getByText(/must be an IANA time zone name/).waitFor()
    t.match(complaints.splice(0), [/400/], 'browsers report refused requests')
    await dialog.getByLabel('Time zone').fill('Asia/Tokyo')
    await dialog.getByLabel('Time zone').press('Enter')
    await page.getByText('Times are in the time zone Asia/Tokyo').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    t.equal(await page.locator('.account[open]').count(), 0, 'the menu is closed')
    t.ok(await page.evaluate("document.activeElement.matches('.account > summary')"), 'the focus is at the menu')

    await page.reload()
    t.equal(await page.locator('html').getAttribute('data-theme'), 'dark', 'the server renders it')
    t.equal(await background(), 'rgb(16, 18, 20)')
    t.ok((await height()) > compact)
    t.same(complaints, [])

    const phone = await openPage(t, '/monitors', viewer.token, { width: 390, height: 844 })
    t.equal(await readOverflow(phone.page), 0)
    t.equal((await openPage(t, '/monitors', person.token)).page.url(), `${origin}/monitors`)
    t.same(phone.complaints, [])
  },
)

/** Presses keys one immediately after the other, however slow the machine is. */
const pressInTurn = (page: Page, ...keys: string[]) =>
  page.evaluate(`for (const key of ${JSON.stringify(keys)})
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))`)

t.test('g and a second key open the main pages, and ask before a form with changes is left', async t => {
  const { page, complaints } = await openPage(t, '/monitors', person.token)
  const places = [
    ['o', '/'],
    ['i', '/incidents'],
    ['p', '/pages'],
    ['m', '/monitors'],
  ] as const
  for (const [key, path] of places) {
    await pressInTurn(page, 'g', key)
    await page.waitForURL(origin + path)
  }
  await page.getByRole('link', { name: 'Mail' }).click()
  await page.getByRole('button', { name: 'Silence…' }).and(page.locator(':enabled')).waitFor()
  await page.setViewportSize({ width: 390, height: 844 })
  const inFilter = runAtOnce(page, "document.getElementById('filter')", "document.getElementById('filter').focus()")
  await pressInTurn(page, 'g', 'm')
  await page.waitForURL(`${origin}/monitors`)
  t.equal(await page.getByRole('dialog').count(), 0, 'm silences nothing')
  await inFilter
  t.equal(await page.evaluate('document.activeElement.id'), 'filter', 'the new page leaves the focus in a field')
  await pressInTurn(page, 'g', 'i')
  t.equal(page.url(), `${origin}/monitors`, 'not in a field')

  await page.goto(`${origin}/monitors/new`)
  await page.getByLabel('Name', { exact: true }).fill('Half')
  await page.getByRole('heading', { level: 1 }).click()
  await pressInTurn(page, 'g', 'i')
  t.match(complaints.splice(0), [/dialog: Leave this page\?/])
  t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'Half', 'the page stays')
  t.same(complaints, [])
})

t.test('A choice is shown at once, and the previous one again when the server refuses it', async t => {
  const { page } = await openPage(t, '/monitors', viewer.token)
  let answer = () => {}
  const held = new Promise<void>(resolve => (answer = resolve))
  await page.route('**/me/preferences', async route => {
    if (!('theme' in route.request().postDataJSON())) return route.continue()
    await held
    await route.fulfill({ status: 403, json: { error: { code: 'forbidden', message: 'Not this person.' } } })
  })
  const theme = (name: string) => page.locator(`html[data-theme="${name}"]`).waitFor()
  await theme('dark')
  await page.locator('.account > summary').click()
  await page.getByRole('button', { name: 'Display' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Theme').selectOption('light')
  await theme('light')
  const stored = page.waitForResponse('**/me/preferences')
  await dialog.getByLabel('Use keys without Ctrl').uncheck()
  await (await stored).finished()
  await page.evaluate('new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
  await theme('light')
  answer()
  await theme('dark')
  t.notOk(await dialog.getByLabel('Use keys without Ctrl').isChecked(), 'the accepted choice stays')
})

t.test('g waits a second and a half for the second key, and not at all when keys are switched off', async t => {
  const { context, page } = await openTab(t, origin, { colorScheme: 'light' })
  await addSession(context, person.token)
  await page.clock.install()
  await page.goto(`${origin}/monitors`)
  await page.getByRole('link', { name: 'Mail' }).click()
  await page.getByRole('button', { name: 'Silence…' }).and(page.locator(':enabled')).waitFor()
  const address = page.url()
  await page.keyboard.press('g')
  await page.clock.fastForward(1_500)
  await page.keyboard.press('m')
  await page.getByRole('dialog', { name: 'Silence Mail' }).waitFor()
  t.equal(page.url(), address)
  await page.keyboard.press('Escape')
  await page.keyboard.press('?')
  await page.getByLabel(/^Use keys without Ctrl/).uncheck()
  await page.getByRole('button', { name: 'Silence…' }).and(page.locator(':not([aria-keyshortcuts])')).waitFor({
    state: 'attached',
  })
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
  await pressInTurn(page, 'g', 'i', 'm', 'p', 'c', 'e')
  t.equal(await page.getByRole('dialog').count(), 0)
  t.equal(page.url(), address)
  const { data } = (await api.call('GET', '/monitors', { key: person.key })).body
  t.ok(data.every((monitor: { is_paused: boolean }) => !monitor.is_paused))
})
