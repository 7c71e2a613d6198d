import t from 'tap'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { addSession, readOverflow } from '../support/dashboard-browser.ts'
import { createPerson } from '../support/person.ts'
import type { Teardown } from '../support/teardown.ts'
import { insertMonitor } from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'
import { openBrowser } from './open-browser.ts'

const api = await startApi(t, { HOST: 'localhost', RATE_LIMIT_PER_MINUTE: '1000000' })
const origin = api.origin.replace('127.0.0.1', 'localhost')
const { openTab } = await openBrowser(t)
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

async function openAt(t: Teardown, path: string, options: object = {}) {
  const watched = await openTab(t, origin, { viewport: DESKTOP, timezoneId: 'Europe/Berlin', ...options })
  await addSession(watched.context, person.token)
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
  await tab.getByRole('button', { name: 'Create the window' }).click()
  await tab.waitForURL(/\/maintenance\/[0-9a-f-]{36}$/)
  const [window] = await call('GET', '/maintenance-windows')
  t.match(window, { title: 'Database upgrade', cron: '0 2 * * 0', time_zone: 'Europe/Berlin', duration_minutes: 3_600 })
  t.same(window.monitor_ids.toSorted(), monitorIds.slice(0, 2).toSorted())

  await tab.getByLabel('How often').selectOption('daily')
  await tab.getByLabel('Lasts', { exact: true }).fill('1')
  await tab.getByRole('button', { name: 'Save the changes' }).click()
  await tab.getByText('Saved.').waitFor()
  await tab.getByRole('link', { name: 'Maintenance', exact: true }).first().click()
  const calendar = tab.getByRole('table', { name: /20\d\d$/ })
  await calendar
    .getByRole('link', { name: /02:00 Database upgrade/ })
    .first()
    .waitFor()
  t.same(await findAccessibilityProblems(tab), [], 'the calendar')
  await shoot('calendar')
  await tab.getByRole('link', { name: 'Next', exact: true }).click()
  await tab.waitForURL(/month=20\d\d-\d\d/)
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
