import t from 'tap'
import { createClickhouse } from '../../control-plane/foundation/platform/clickhouse.ts'
import { FailureSource, Outcome } from '../../shared/checks/result.ts'
import { startApi } from '../support/api-server.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { createClickhouseDatabase } from '../support/clickhouse.ts'
import { insertTransitions, recordResults } from '../support/history-rows.ts'
import { createPerson, PERSON_PASSWORD } from '../support/person.ts'
import { createResult } from '../support/results.ts'
import { openWatchedPage } from '../support/watched-page.ts'
import { openBrowser } from './open-browser.ts'

const { url } = await createClickhouseDatabase(t)
const api = await startApi(t, { HOST: 'localhost', CLICKHOUSE_URL: url })
const clickhouse = createClickhouse(url)
t.teardown(() => clickhouse.close())
const origin = api.origin.replace('127.0.0.1', 'localhost')
const { newContext } = await openBrowser(t)
const owner = await createPerson(api, 'ann@example.com')

const DAY_MS = 86_400_000
const startMs = Math.floor(Date.now() / 60_000) * 60_000 - DAY_MS

/** A monitor with an outage a day ago, from two failures to two successes, one check a minute. */
async function createPast(): Promise<string> {
  const body = { name: 'Shop', type: 'http', url: 'https://shop.example.com', regions: ['us-east'], retry_count: 1 }
  const created = await api.call('POST', '/monitors', { key: owner.key, body })
  const { id } = created.body.data
  const error = { source: FailureSource.TARGET, code: 'connection_refused', message: 'refused' }
  const failure = { outcome: Outcome.DOWN, statusCode: 0, error }
  const checks = [...'+++++++++++++--++++++'].map((check, i) =>
    createResult(id, startMs + i * 60_000, { totalUs: 20_000, ...(check === '-' && failure) }),
  )
  await recordResults(clickhouse, checks, 'us-east')
  const at = (i: number) => new Date(startMs + i * 60_000 + 20)
  await insertTransitions(
    api.db,
    [id],
    [
      [at(0), 'up'],
      [at(14), 'down'],
      [at(16), 'up'],
    ],
  )
  return id
}

t.test('A person sees what other settings would have done before they are saved', async t => {
  const id = await createPast()
  const context = await newContext({ timezoneId: 'UTC', reducedMotion: 'reduce' })
  t.teardown(() => context.close())
  const { page, complaints } = await openWatchedPage(context, origin)
  await page.goto(`${origin}/sign-in?${new URLSearchParams({ return_to: `/monitors/${id}/settings` })}`)
  await page.getByLabel('Email address').fill(owner.email)
  await page.getByLabel('Password').fill(PERSON_PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(`${origin}/monitors/${id}/settings`)
  complaints.length = 0
  await page.getByRole('button', { name: 'Save the changes' }).waitFor()
  const part = page.getByRole('region', { name: 'What would have happened' })
  t.equal(await part.count(), 0, 'nothing differs')

  await page.getByLabel('Name', { exact: true }).fill('Shop 2')
  await page.getByLabel('Re-checks', { exact: true }).fill('3')
  await part.waitFor()
  await page.getByRole('button', { name: 'Rehearse over 7 days' }).click()
  await part.getByText('1 outage becomes none.').waitFor()
  t.match(await part.getByRole('row').nth(1).textContent(), /^Down.*for 2 min.*none$/)
  t.match(await part.textContent(), /The additional re-checks were not made/)
  t.match(await part.textContent(), /This is approximate/, 'the live probes of that time are not stored')
  t.same(await findAccessibilityProblems(page), [])
  if (process.env.PICTURES) await page.screenshot({ path: `${process.env.PICTURES}/rehearsal.png`, fullPage: true })
  await page.setViewportSize({ width: 390, height: 844 })
  const isWide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth')
  t.notOk(isWide, 'no sideways scrolling on a phone')
  if (process.env.PICTURES)
    await page.screenshot({ path: `${process.env.PICTURES}/rehearsal-phone.png`, fullPage: true })

  await page.getByLabel('Re-checks', { exact: true }).fill('4')
  await part.getByText('The settings have changed since the rehearsal.').waitFor()
  await page.getByLabel('Re-checks', { exact: true }).fill('1')
  await part.waitFor({ state: 'detached' })
  const { data } = (await api.call('GET', `/monitors/${id}`, { key: owner.key })).body
  t.match(data, { name: 'Shop', retry_count: 1 }, 'nothing was saved')
  t.same(complaints, [])
})
