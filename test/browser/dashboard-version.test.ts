import { randomBytes } from 'node:crypto'
import t from 'tap'
import { startApi } from '../support/api-server.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { addSession } from '../support/dashboard-browser.ts'
import { createDatabase } from '../support/database.ts'
import { createPerson } from '../support/person.ts'
import { waitFor } from '../support/wait.ts'
import { openBrowser } from './open-browser.ts'

// takes about 30 s

const SETTINGS = {
  DATABASE_URL: (await createDatabase(t)).url,
  SECRET_KEY: randomBytes(32).toString('base64'),
  HOST: 'localhost',
}

/** Starts a server. Returns its port, and a function that stops it. */
async function startServer(env: Record<string, string>) {
  const ends: (() => unknown)[] = []
  const api = await startApi({ teardown: (end: () => unknown) => void ends.push(end) }, { ...SETTINGS, ...env })
  const stop = async () => {
    for (const end of ends.splice(0).reverse()) await end()
  }
  t.teardown(stop)
  return { api, port: new URL(api.origin).port, stop }
}

t.test('A page says that the server was replaced by another version, and the next page is loaded whole', async t => {
  const first = await startServer({ BUILD_ID: 'one' })
  const origin = `http://localhost:${first.port}`
  const person = await createPerson(first.api, 'owner@example.com')
  const { newContext } = await openBrowser(t)
  const context = await newContext({ viewport: { width: 1280, height: 900 } })
  await addSession(context, person.token)
  const page = await context.newPage()
  const menu = page.getByRole('navigation', { name: 'Main' })
  await page.goto(origin)
  await page.locator('button.search:enabled').waitFor()
  const mark = () => page.evaluate('window.isFirstPage = true')
  const isSamePage = () => page.evaluate('window.isFirstPage === true')
  const countStreams = () => page.evaluate('performance.getEntriesByName("picket-live").length') as Promise<number>
  await mark()
  await menu.getByRole('link', { name: 'Incidents', exact: true }).click()
  await page.waitForURL(`${origin}/incidents`)
  t.ok(await isSamePage(), 'a link opens a screen while the version is the same')

  await waitFor(async () => (await countStreams()) > 0, { label: 'a stream' })
  await first.stop()
  const second = await startServer({ BUILD_ID: 'two', PORT: first.port })
  const notice = page.getByText('The server has a new version.')
  await waitFor(() => notice.isVisible(), { label: 'the notice' })
  t.same(await findAccessibilityProblems(page), [])
  t.ok(await isSamePage(), 'nothing is loaded before a person navigates')
  await menu.getByRole('link', { name: 'Monitors', exact: true }).click()
  await page.waitForURL(`${origin}/monitors`)
  await waitFor(async () => !(await isSamePage()), { label: 'a whole page' })
  await page.locator('button.search:enabled').waitFor()
  t.equal(await notice.count(), 0, 'the new page is of the new version')

  await mark()
  await waitFor(async () => (await countStreams()) > 0, { label: 'a stream' })
  await second.stop()
  await startServer({ BUILD_ID: 'two', PORT: first.port })
  await waitFor(async () => (await countStreams()) > 1, { label: 'the stream again' })
  t.equal(await notice.count(), 0, 'a restart of the same version is not mentioned')
  await menu.getByRole('link', { name: 'Overview', exact: true }).click()
  await page.waitForURL(`${origin}/`)
  t.ok(await isSamePage())
})
