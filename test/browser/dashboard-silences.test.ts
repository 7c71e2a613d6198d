import t from 'tap'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { addSession, readOverflow, readText } from '../support/dashboard-browser.ts'
import { createPerson } from '../support/person.ts'
import type { Teardown } from '../support/teardown.ts'
import { insertMonitor } from '../support/verdict.ts'
import { openBrowser } from './open-browser.ts'

const api = await startApi(t, { HOST: 'localhost', RATE_LIMIT_PER_MINUTE: '1000000' })
const origin = api.origin.replace('127.0.0.1', 'localhost')
const { openTab } = await openBrowser(t)
const person = await createPerson(api, 'owner@example.com')
const viewer = await createPerson(api, 'viewer@example.com', { role: 'viewer', invitedBy: person })
const { body } = await api.call('GET', '/me', { key: person.key })
const projectId: string = body.data.project.id
const ids: string[] = []
for (const name of ['Till 1', 'Till 2', 'Till 3']) ids.push(await insertMonitor(api.db, projectId, { name }))

const DESKTOP = { width: 1280, height: 900 }
const PHONE = { width: 390, height: 844 }

async function openPage(t: Teardown, path: string, token = person.token, viewport = DESKTOP) {
  const watched = await openTab(t, origin, { viewport })
  await addSession(watched.context, token)
  await watched.page.goto(origin + path)
  await watched.page.locator('button.search:enabled').waitFor()
  return watched
}

/** The silences in force, as `2: Move`: the number of their monitors and the reason, by reason. */
async function listActive(): Promise<string[]> {
  const rows = await query<{ text: string }>(
    api.db,
    `SELECT count(*) || ': ' || coalesce(s.reason, '') AS text
     FROM alert_silences s JOIN alert_silence_monitors sm ON sm.silence_id = s.id
     WHERE s.project_id = ? AND s.ends_at > now() GROUP BY s.id ORDER BY s.reason`,
    [projectId],
  )
  return rows.map(({ text }) => text)
}

t.test('A monitor is silenced on its page, the overview shows it, and it ends with one click', async t => {
  const { page, complaints } = await openPage(t, `/monitors/${ids[0]}`)
  await page.getByRole('button', { name: 'Silence…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  t.same(await findAccessibilityProblems(page), [], 'the dialog')
  await dialog.getByLabel('How long').selectOption('time')
  t.ok(await dialog.getByRole('button', { name: 'Silence' }).isDisabled(), 'without a time')
  await dialog.getByLabel('Until', { exact: true }).fill('2026-01-01T08:00')
  await dialog.getByRole('button', { name: 'Silence' }).click()
  await dialog.getByText('until must be in the future.').waitFor()
  t.match(complaints.splice(0), [/400/], 'browsers report refused requests')
  t.same(await findAccessibilityProblems(page), [], 'the form with an error')
  await dialog.getByLabel('How long').selectOption('4h')
  await dialog.getByLabel('Reason').fill('Move to the new rack')
  await dialog.getByRole('button', { name: 'Silence' }).click()
  await page.getByText(/No alerts until .*: Move to the new rack/).waitFor()
  await dialog.waitFor({ state: 'detached' })
  t.same(await listActive(), ['1: Move to the new rack'])
  t.same(await findAccessibilityProblems(page), [], 'the page of the monitor')

  const overview = await openPage(t, '/', person.token, PHONE)
  const section = overview.page.getByRole('region', { name: 'Silenced' })
  t.match(await readText(section), /Till 1 until .* Move to the new rack/)
  t.equal(await readOverflow(overview.page), 0, 'no sideways scrolling on a phone')
  t.same(await findAccessibilityProblems(overview.page), [], 'the overview')
  await section.getByRole('button', { name: 'End now' }).click()
  await section.waitFor({ state: 'detached' })
  t.same(await listActive(), [])
  t.same([...complaints, ...overview.complaints], [])
})

t.test('Selected monitors are silenced with a key, and the change is undone', async t => {
  const { page, complaints } = await openPage(t, '/monitors')
  await page.getByLabel('Select Till 1').click()
  await page.getByLabel('Select Till 3').click({ modifiers: ['Shift'] })
  await page.keyboard.press('m')
  const dialog = page.getByRole('dialog', { name: 'Silence 3 monitors' })
  await dialog.getByLabel('Reason').fill('Stocktaking')
  t.same(await findAccessibilityProblems(page), [], 'the form')
  await dialog.getByRole('button', { name: 'Show the difference' }).click()
  await dialog.getByText('3 monitors change.').waitFor()
  t.match(await readText(dialog), /Till 1 Silenced until: not silenced → \d+ \w+ \d{4}, [\d:]+/)
  t.same(await listActive(), [], 'nothing has changed yet')
  await dialog.getByRole('button', { name: 'Silence 3 monitors' }).click()
  await page.getByText('3 monitors changed.').waitFor()
  t.same(await listActive(), ['3: Stocktaking'])
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' })
  t.same(await listActive(), [])
  t.same(complaints, [])
})

t.test('A viewer sees a silence without a button', async t => {
  const until = new Date(Date.now() + 3_600_000).toISOString()
  const made = await api.call('POST', '/silences', { key: person.key, body: { monitor_ids: ids, until } })
  t.equal(made.status, 201)
  const { page, complaints } = await openPage(t, '/', viewer.token)
  const section = page.getByRole('region', { name: 'Silenced' })
  t.match(await readText(section), /Till 1 ?, Till 2 ?, Till 3 until/)
  t.equal(await section.getByRole('button').count(), 0)
  t.same(complaints, [])
})
