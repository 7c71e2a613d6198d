import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import t from 'tap'
import { startApi } from '../support/api-server.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { addSession } from '../support/dashboard-browser.ts'
import { createPerson } from '../support/person.ts'
import type { Teardown } from '../support/teardown.ts'
import { openBrowser } from './open-browser.ts'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '../..')
const api = await startApi(t, { HOST: 'localhost', EGRESS_ALLOW: '127.0.0.0/8' })
const origin = api.origin.replace('127.0.0.1', 'localhost')
const { openTab } = await openBrowser(t)
const person = await createPerson(api, 'ann@example.com')
const send = (method: string, path: string, body?: unknown) => api.call(method, path, { key: person.key, body })
const env = { PATH: process.env.PATH, PICKET_URL: api.origin, PICKET_API_KEY: person.key }
const folder = await mkdtemp(join(tmpdir(), 'picket-calls-'))
t.teardown(() => rm(folder, { recursive: true, force: true }))

async function openAt(t: Teardown, path: string): Promise<Page> {
  const { context, page } = await openTab(t, origin, { reducedMotion: 'reduce' })
  await addSession(context, person.token)
  await page.goto(origin + path)
  return page
}

/** The text of the choice that is called `name`. */
async function readText(page: Page, name: string): Promise<string> {
  await page.getByRole('radio', { name, exact: true }).check()
  const texts = page.locator('.call-texts pre')
  await texts.waitFor()
  return (await texts.textContent()) ?? ''
}

const importFile = (text: string, isDryRun: boolean) =>
  fetch(`${api.origin}/api/v1/import?dry_run=${isDryRun}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${person.key}`, 'content-type': 'application/yaml' },
    body: `version: 1\n${text}`,
    // biome-ignore lint/suspicious/noExplicitAny: reports of any shape
  }).then(response => response.json() as any)

t.test('A page shows the calls behind it: the commands, the program and the file work as they are', async t => {
  const { data: shop } = (
    await send('POST', '/monitors', {
      name: "Ann's shop",
      type: 'http',
      url: 'https://shop.example.com/',
      tags: ['eu'],
    })
  ).body
  const page = await openAt(t, `/monitors/${shop.id}`)
  await page.getByRole('button', { name: 'API calls of this page' }).click()
  await page.getByRole('dialog', { name: 'API calls of this page' }).waitFor()
  t.same(await findAccessibilityProblems(page), [])

  const commands = (await readText(page, 'curl')).split('\n\n')
  t.ok(commands.length >= 4, `${commands.length} commands`)
  const answers = await Promise.all(commands.map(command => run('sh', ['-c', command], { env })))
  const bodies = answers.map(({ stdout }) => JSON.parse(stdout))
  t.same(
    bodies.filter(({ error }) => error),
    [],
  )
  t.match(bodies[0].data, { id: shop.id, name: "Ann's shop" })

  const program = (await readText(page, 'TypeScript')).replace("'picket-client'", "'./client.mts'")
  const shown = [...program.matchAll(/^const (\w+) = await picket/gm)].map(([, name]) => name)
  t.equal(shown.length, commands.length)
  await writeFile(join(folder, 'client.mts'), `export * from ${JSON.stringify(join(ROOT, 'deploy/client/index.ts'))}`)
  await writeFile(
    join(folder, 'calls.mts'),
    `${program}\nconsole.log(JSON.stringify([${shown.join()}].map(answer => answer.data ?? answer.error)))`,
  )
  const tsx = join(ROOT, 'node_modules/tsx/dist/loader.mjs')
  const { stdout } = await run(process.execPath, ['--import', tsx, join(folder, 'calls.mts')], { env })
  const results = JSON.parse(stdout)
  t.same(
    results.filter(({ error }: { error?: unknown }) => error),
    [],
  )
  t.match(results[0].data, { id: shop.id })

  const entry = await readText(page, 'project.yaml')
  t.match(entry, `monitors:\n  - id: ${shop.id}\n    name: Ann's shop\n`)
  t.match((await importFile(entry, true)).data, { changes: [], warnings: [], unchanged: 1 })
})

t.test('A form shows what it sends: the same entry in a file creates the same monitor', async t => {
  const page = await openAt(t, '/monitors/new')
  await page.getByLabel('Address', { exact: true }).fill('https://form.example.com/health')
  await page.getByLabel('Name', { exact: true }).fill('From a form')
  await page.getByText('The same as an API call').click()
  const entry = await readText(page, 'project.yaml')
  const { data: report } = await importFile(entry, false)
  t.match(report, { create: 1, changes: [{ action: 'create', resource: 'monitor', key: 'From a form' }] })
  const command = await readText(page, 'curl')
  const { data: created } = JSON.parse((await run('sh', ['-c', command], { env })).stdout)
  const { data: monitors } = (await send('GET', '/monitors?q=From%20a%20form')).body
  t.equal(monitors.length, 2)
  const { id } = monitors.find((monitor: { id: string }) => monitor.id !== created.id)
  const [imported, sent] = await Promise.all([id, created.id].map(one => send('GET', `/monitors/${one}`)))
  const ignored = { id: '', created_at: '', updated_at: '' }
  t.same({ ...imported!.body.data, ...ignored }, { ...sent!.body.data, ...ignored })

  const settings = await openAt(t, `/monitors/${created.id}/settings`)
  await settings.getByLabel('Name', { exact: true }).fill('Renamed')
  await settings.locator('form.setup').getByText('The same as an API call').click()
  const changed = await readText(settings, 'project.yaml')
  t.match((await importFile(changed, true)).data.changes, [
    { action: 'update', resource: 'monitor', fields: { name: { from: 'From a form', to: 'Renamed' } } },
  ])
})

t.test('Records that a project file does not contain say so, and a list names its section', async t => {
  const page = await openAt(t, '/incidents')
  await page.getByRole('button', { name: 'API calls of this page' }).click()
  await page.getByRole('radio', { name: 'project.yaml' }).check()
  await page.getByText('A project file does not contain these records.').waitFor()
  await page.keyboard.press('Escape')
  await page.goto(`${origin}/settings/channels`)
  await page.getByRole('button', { name: 'Go to' }).click()
  await page.getByRole('combobox').fill('API calls')
  await page.getByRole('option', { name: 'API calls of this page' }).click()
  await page.getByRole('radio', { name: 'project.yaml' }).check()
  await page.getByText('writes these records to the section alert_channels').waitFor()
})
