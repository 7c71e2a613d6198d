import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { startApi } from '../support/api-server.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { addSession, readOverflow } from '../support/dashboard-browser.ts'
import { buildKumaDatabase, KUMA_TABLES } from '../support/kuma-database.ts'
import { createPerson, PERSON_PASSWORD } from '../support/person.ts'
import { waitFor } from '../support/wait.ts'
import { openBrowser } from './open-browser.ts'

const api = await startApi(t, { HOST: 'localhost' })
const origin = api.origin.replace('127.0.0.1', 'localhost')
const { openTab } = await openBrowser(t)
const owner = await createPerson(api, 'ann@example.com')
const folder = t.testdir({ 'notes.db': 'dear diary' })
writeFileSync(join(folder, 'kuma.db'), buildKumaDatabase(2, KUMA_TABLES))
const whole = readFileSync(join(folder, 'kuma.db'))
writeFileSync(join(folder, 'half.db'), whole.subarray(0, whole.length / 2))
writeFileSync(join(folder, 'large.db'), whole)
truncateSync(join(folder, 'large.db'), 256 * 1024 * 1024 + 1)
writeFileSync(join(folder, 'none.yaml'), 'version: 1\nmonitors: []\n')

t.test('A person imports a database of Uptime Kuma and sees what is left out before anything changes', async t => {
  const { page, complaints } = await openTab(t, origin, { reducedMotion: 'reduce' })
  const shoot = (name: string) =>
    process.env.PICKET_SHOTS
      ? page.screenshot({ path: join(process.env.PICKET_SHOTS, `${name}.png`), fullPage: true })
      : null
  await page.goto(`${origin}/sign-in?${new URLSearchParams({ return_to: '/settings/import' })}`)
  await page.getByLabel('Email address').fill(owner.email)
  await page.getByLabel('Password').fill(PERSON_PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${origin}/settings/import`)
  complaints.length = 0
  // Playwright also sets a file on a disabled input, which ignores it
  const input = page.locator('input[type=file]:enabled')

  await input.setInputFiles(join(folder, 'notes.db'))
  await page.getByText('not that of a known format').waitFor()
  await page.getByLabel('What is it?').selectOption('uptime-kuma')
  await page.getByRole('button', { name: 'Upload and make a plan' }).click()
  await page.getByText('neither a backup of Uptime Kuma (JSON) nor its database').waitFor()
  const discarded = new URL(page.url()).pathname.split('/').at(-1)!
  await page.getByRole('button', { name: 'Discard it and choose another file' }).click()
  await page.waitForURL(`${origin}/settings/import`)

  await input.setInputFiles(join(folder, 'kuma.db'))
  t.equal(await page.getByLabel('What is it?').inputValue(), 'uptime-kuma', 'it says what the file looks like')
  await shoot('chosen')
  await page.getByRole('button', { name: 'Upload and make a plan' }).click()
  await page.getByText('Planned, nothing is changed yet').waitFor()
  await page.getByText('monitors of type rabbitmq are not supported').waitFor()
  await page.getByText('New monitors are checked from US East only, because the file has no regions.').waitFor()
  await page.getByText('notifications of type pagerduty are not supported').waitFor()
  t.equal(await page.getByText(/(monitor|notification|statusPage)List/).count(), 0, 'no name of a section of a backup')
  t.equal((await api.call('GET', '/monitors', { key: owner.key })).body.meta.total, 0)
  await shoot('plan')
  await page.getByRole('searchbox', { name: 'Name' }).fill('shop')
  await page.getByRole('searchbox', { name: 'Name' }).press('Enter')
  await page.waitForURL(/q=shop/)
  await page.getByText('Queue').waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'All', exact: true }).click()

  await page.getByRole('button', { name: 'Apply 5 changes' }).click()
  await page.getByRole('link', { name: 'Open the monitors' }).waitFor()
  await shoot('result')
  t.same(
    complaints.filter(text => !text.includes(discarded)),
    [],
    'at most the page of the deleted import read it again',
  )
  await page.getByRole('link', { name: 'Open the monitors' }).click()
  await page.getByRole('link', { name: 'Shop' }).first().waitFor()
  t.equal((await api.call('GET', '/monitors', { key: owner.key })).body.meta.total, 3)
})

t.test('A backup of Uptime Kuma, a file of Gatus and an exported project are recognized and planned', async t => {
  const exported = await fetch(`${api.origin}/api/v1/export`, { headers: { authorization: `Bearer ${owner.key}` } })
  writeFileSync(join(folder, 'project.yaml'), await exported.text())
  const fixtures = join(import.meta.dirname, '../fixtures/exchange')
  const { context, page, complaints } = await openTab(t, origin, { reducedMotion: 'reduce' })
  await addSession(context, owner.token)
  for (const [path, source, plan] of [
    [join(fixtures, 'uptime-kuma-backup.json'), 'uptime-kuma', /^Apply \d+ changes$/],
    [join(fixtures, 'gatus-example.yaml'), 'gatus', /^Apply \d+ changes$/],
    [join(folder, 'project.yaml'), 'picket', null],
  ] as const) {
    await page.goto(`${origin}/settings/import`)
    await page.locator('input[type=file]:enabled').setInputFiles(path)
    await page.getByText('This is what the beginning of the file looks like.').waitFor()
    t.equal(await page.getByLabel('What is it?').inputValue(), source)
    await page.getByRole('button', { name: 'Upload and make a plan' }).click()
    await page.waitForURL(/\/settings\/import\/[0-9a-f-]{36}/)
    await page.getByRole('heading', { level: 1, name: basename(path) }).waitFor()
    await page.getByText('Planned, nothing is changed yet').waitFor()
    const changes = await page.getByRole('button', { name: /^Apply / }).allTextContents()
    if (plan) t.match(changes, [plan], source)
    else t.same(changes, [], 'an exported project changes nothing in the project itself')
  }
  t.same(complaints, [])
})

t.test('A file that is too large, or half a file, is refused in the words of the API, and changes nothing', async t => {
  const { context, page } = await openTab(t, origin, { reducedMotion: 'reduce' })
  await addSession(context, owner.token)
  const read = async (path: string) => (await api.call('GET', path, { key: owner.key })).body.meta.total
  const before = await read('/monitors')
  await page.goto(`${origin}/settings/import`)
  for (const [file, message] of [
    ['large.db', 'the file must not be larger than 256 MiB.'],
    ['half.db', `the database is incomplete: it has ${Math.floor(whole.length / 2)} of ${whole.length} bytes.`],
  ] as const) {
    await page.locator('input[type=file]:enabled').setInputFiles(join(folder, file))
    await page.getByRole('button', { name: 'Upload and make a plan' }).click()
    await page.getByText(message).waitFor()
    t.equal(await page.getByRole('button', { name: /^Apply/ }).count(), 0, `${file}: there is nothing to apply`)
    t.equal(await read('/monitors'), before, file)
  }
})

t.test('A plan asks for the number of its deletions, and its progress is shown until it ends', async t => {
  const { context, page, complaints } = await openTab(t, origin, { reducedMotion: 'reduce' })
  await addSession(context, owner.token)
  await page.goto(`${origin}/settings/import`)
  await page.locator('input[type=file]:enabled').setInputFiles(join(folder, 'none.yaml'))
  await page.getByLabel('Delete records that are not in the file').check()
  await page.getByRole('link', { name: 'Monitors', exact: true }).first().click()
  const isAsked = () => complaints.some(text => text.startsWith('dialog: Leave this page?'))
  await waitFor(async () => isAsked(), { label: 'the question before a file that was chosen is left' })
  await page.getByRole('button', { name: 'Upload and make a plan' }).click()
  await page.waitForURL(/\/settings\/import\/[0-9a-f-]{36}/)
  await page.getByText('Planned, nothing is changed yet').waitFor()
  const deletions = page.locator('.import-items > li.delete')
  await deletions.nth(2).waitFor()
  t.equal(await deletions.count(), 3)
  const apply = page.getByRole('button', { name: 'Apply 3 changes' })
  for (const [typed, isAccepted] of [
    ['2', false],
    ['3', true],
  ] as const) {
    await page.getByLabel('3 records will be deleted. Type 3 to confirm').fill(typed)
    t.equal(await apply.isEnabled(), isAccepted, typed)
  }

  const id = new URL(page.url()).pathname.split('/').at(-1)!
  const change = (columns: object) =>
    api
      .db('import_jobs')
      .where({ id })
      .update({ alive_at: new Date('2999-01-01'), updated_at: new Date(), ...columns })
  await change({ status: 'applying', done: 2, total: 6 })
  await page.reload()
  await page.getByText('The file is being imported').waitFor()
  await page.getByText('2 of 6 steps').waitFor()
  await change({ done: 5 })
  await page.getByText('5 of 6 steps').waitFor()
  const message = 'other imports take too long'
  await change({ status: 'failed', error: JSON.stringify({ status: 503, code: 'unavailable', message }) })
  await page.getByText(`${message}.`).waitFor()
  await page.getByText('Failed, nothing was changed').waitFor()
  t.equal((await api.call('GET', '/monitors', { key: owner.key })).body.meta.total, 3)
})

t.test('The import pages are accessible, fit a phone, in the dark too', async t => {
  const { context, page } = await openTab(t, origin, { viewport: { width: 390, height: 844 }, colorScheme: 'dark' })
  await addSession(context, owner.token)
  const { data } = (await api.call('GET', '/imports', { key: owner.key })).body
  for (const path of ['/settings/import', `/settings/import/${data[0].id}`]) {
    await page.goto(origin + path)
    t.equal(await readOverflow(page), 0, path)
    t.same(await findAccessibilityProblems(page), [], path)
    if (process.env.PICKET_SHOTS)
      await page.screenshot({ path: join(process.env.PICKET_SHOTS, `phone-${path.length > 20 ? 'job' : 'start'}.png`) })
  }
})
