import type { Page } from 'playwright-core'
import t from 'tap'
import { startApi } from '../support/api-server.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { addSession, readOverflow, readRows } from '../support/dashboard-browser.ts'
import { createPerson } from '../support/person.ts'
import { startTarget } from '../support/target.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import { openBrowser } from './open-browser.ts'

const api = await startApi(t, {
  ...{ HOST: 'localhost', EGRESS_ALLOW: '127.0.0.0/8', ROLES: 'api,schedule' },
  ...{ TESTS_PER_MINUTE: '1000', RATE_LIMIT_PER_MINUTE: '1000000', DEFAULT_PLAN: 'business' },
})
const origin = api.origin.replace('127.0.0.1', 'localhost')
const { openTab } = await openBrowser(t)
const owner = await createPerson(api, 'ann@example.com')
const viewer = await createPerson(api, 'viewer@example.com', { role: 'viewer', invitedBy: owner })
const target = await startTarget(t)
const call = (method: string, path: string, body?: unknown) => api.call(method, path, { key: owner.key, body })
const serve = (document: unknown) => target.behave({ kind: 'answer', body: JSON.stringify(document) })
const DESKTOP = { width: 1280, height: 900 }
const PHONE = { width: 390, height: 844 }

async function openPage(t: Teardown, path: string, token = owner.token, viewport = DESKTOP) {
  const watched = await openTab(t, origin, { viewport, reducedMotion: 'reduce' })
  await addSession(watched.context, token)
  await watched.page.goto(origin + path)
  await watched.page.locator('button.search:enabled').waitFor()
  return watched
}

const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
const row = (page: Page, name: string) => page.getByRole('treeitem', { name, exact: true })

const DOCUMENT = {
  version: '4.2.1',
  generated_at: '2026-11-21T14:00:00Z',
  services: {
    web: { status: 'ok', latency_ms: 12 },
    api: { status: 'slow', latency_ms: 70 },
    mail: { status: 'failing', latency_ms: 9 },
  },
}

t.test('A click on a value makes a rule for every service, and its monitors appear at once', async t => {
  serve(DOCUMENT)
  const { page, complaints } = await openPage(t, '/sources')
  await page.getByText('There is no data source.').waitFor()
  t.same(await findAccessibilityProblems(page), [], 'the empty list')
  await page.getByRole('link', { name: 'New data source' }).first().click()
  await field(page, 'Address of the document').fill('ftp://example.com')
  await page.getByRole('button', { name: 'Fetch the document' }).click()
  await page.locator('#field-url-error').waitFor()
  t.match(complaints.splice(0), [/400/], 'browsers report refused requests')
  await field(page, 'Address of the document').fill(target.url)
  await page.getByRole('button', { name: 'Fetch the document' }).click()
  await row(page, 'status: "failing"').click()
  await page.getByText('3 monitors: 1 down, 1 degraded, 1 up.').waitFor()
  t.same(
    (await readRows(page, 'table.verdicts')).map(cells => cells.join(' | ')),
    [
      'Degraded | api | slow | services.api.status is "slow", expected "ok"; it counts as degraded',
      'Down | mail | failing | services.mail.status is "failing", expected "ok"',
      'Up | web | ok | services.web.status is "ok"',
    ],
  )
  t.ok(await page.getByRole('radio', { name: /Every service/ }).isChecked())
  await page.getByRole('radio', { name: /Only services.mail.status/ }).check()
  await page.getByText('1 monitor: 1 down.').waitFor()
  await page.getByRole('radio', { name: /Every service/ }).check()
  t.same(await findAccessibilityProblems(page), [], 'the proposal')
  await page.getByRole('button', { name: 'Add the rule' }).click()
  await field(page, 'Names of the monitors').fill('The {{key}} service')
  await page.getByRole('cell', { name: 'The web service' }).waitFor()
  await field(page, 'Path of the values').fill('services.*.')
  await page.getByText('the path ends with a dot').waitFor()
  await field(page, 'Path of the values').fill('services.*.status')
  await field(page, 'Name').fill('Platform')
  t.same(await findAccessibilityProblems(page), [], 'the form')
  await page.getByRole('button', { name: 'Create the data source' }).click()
  await page.waitForURL(/\/sources\/[0-9a-f-]{36}$/)
  const id = page.url().split('/').at(-1)!
  await waitFor(async () => (await call('GET', `/data-sources/${id}`)).body.data.child_monitor_count === 3, {
    label: 'three monitors',
  })
  t.match((await call('GET', `/data-sources/${id}`)).body.data, {
    name: 'Platform',
    fields: [{ path: 'services.*.status', rule_config: { value: 'ok' }, degraded_rule_config: { value: 'slow' } }],
  })
  t.same(complaints, [])
})

t.test('A data source that is created while a rule is proposed has the monitors that were shown', async t => {
  serve(DOCUMENT)
  const { page, complaints } = await openPage(t, '/sources/new')
  await field(page, 'Address of the document').fill(target.url)
  await page.getByRole('button', { name: 'Fetch the document' }).click()
  await row(page, 'status: "failing"').click()
  await page.getByText('3 monitors: 1 down, 1 degraded, 1 up.').waitFor()
  await page.getByText('The proposed rule services.*.status is saved too.').waitFor()
  await page.getByRole('button', { name: 'Create the data source' }).click()
  await page.waitForURL(/\/sources\/[0-9a-f-]{36}$/)
  const stored = (await call('GET', `/data-sources/${page.url().split('/').at(-1)}`)).body.data
  t.match(stored, { fields: [{ path: 'services.*.status', rule_config: { value: 'ok' } }] })
  t.equal(stored.fields.length, 1)
  t.same(complaints, [])
})

t.test('The tree is operated with keys, and hostile documents have no effect', async t => {
  let deep: unknown = 'end'
  for (let i = 0; i < 450; i++) deep = { level: deep }
  serve({
    '<img src=x onerror=hit=1>': '<script>hit=1</script>'.repeat(2_000),
    list: Array.from({ length: 9_000 }, (_, i) => ({ id: i, text: 'x'.repeat(40) })),
    deep,
    services: { a: { ok: true }, b: { ok: true } },
    '__proto__ ': '\u202etxet',
  })
  const { page, complaints } = await openPage(t, '/sources/new', owner.token, PHONE)
  await field(page, 'Address of the document').fill(target.url)
  await page.getByRole('button', { name: 'Fetch the document' }).click()
  await page.getByText(/Only a part is shown: the document is larger than 256 KiB/).waitFor()
  await row(page, 'Document: 5 keys').focus()
  await page.keyboard.press('End')
  const focused = () => page.evaluate('document.activeElement.textContent')
  t.match(await focused(), /__proto__/)
  await row(page, 'services: 2 keys').focus()
  await page.keyboard.press('ArrowLeft')
  t.equal(await row(page, 'services: 2 keys').getAttribute('aria-expanded'), 'false')
  for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key)
  t.equal(await focused(), 'ok true')
  await page.keyboard.press('Enter')
  await page.getByRole('radio', { name: /Every service/ }).waitFor()
  await page.getByText('2 monitors: 2 up.').waitFor()
  t.equal(await page.evaluate('window.hit'), undefined)
  t.equal(await readOverflow(page), 0, 'only the tree scrolls sideways')
  t.same(await findAccessibilityProblems(page), [])
  t.same(complaints, [])
})

t.test('A stored source shows its monitors; removing a rule and deleting ask for their number', async t => {
  serve(DOCUMENT)
  const fields = ['status', 'latency_ms'].map(key => ({
    ...{ path: `services.*.${key}`, name_template: `{{key}} ${key}`, rule_type: 'truthy', rule_config: {} },
  }))
  const { id } = (await call('POST', '/data-sources', { name: 'Stored', url: target.url, fields })).body.data
  const pageId = (await call('POST', '/status-pages', { name: 'Public', slug: 'public' })).body.data.id
  const group = (await call('POST', `/status-pages/${pageId}/groups`, { name: 'Services' })).body.data
  const read = async () => (await call('GET', `/data-sources/${id}`)).body.data
  await waitFor(async () => (await read()).child_monitor_count === 6, { label: 'six monitors' })
  const { page, complaints } = await openPage(t, `/sources/${id}`)
  await page.getByText('6 monitors: 6 up.').waitFor()
  t.equal(await page.getByRole('cell', { name: 'mail status' }).getByRole('link').count(), 1)
  await page.clock.install()
  const groupReads: string[] = []
  page.on('request', request => request.url().includes('/groups') && groupReads.push(request.url()))
  await page.reload()
  await field(page, 'Group of the page').waitFor()
  await page.clock.runFor(30_000)
  await field(page, 'Group of the page').selectOption('Services')
  await page.getByRole('button', { name: 'Publish on the page' }).click()
  await page.getByText('6 components added to Public.').waitFor()
  t.same(
    (await call('GET', `/status-pages/${pageId}/components`)).body.data.map((c: { group_id: string }) => c.group_id),
    Array(6).fill(group.id),
    'all of them are in the group',
  )
  await page.getByRole('button', { name: 'Pause 6 monitors' }).click()
  await page.getByText('6 monitors paused.').waitFor()
  t.equal(groupReads.length, 1, 'the groups are read once')

  await page.locator('summary', { hasText: 'services.*.latency_ms' }).click()
  await page.getByRole('button', { name: 'Remove the rule services.*.latency_ms' }).click()
  const save = page.getByRole('button', { name: 'Save the changes' })
  t.ok(await save.isDisabled(), 'the number is missing')
  await page.getByLabel('Type 3 to archive 3 monitors').fill('3')
  t.same(await findAccessibilityProblems(page), [], 'the stored source')
  await save.click()
  await page.getByText('Saved.', { exact: true }).waitFor()
  await waitFor(async () => (await read()).child_monitor_count === 3, { label: 'three monitors are archived' })

  const remove = page.getByRole('button', { name: 'Delete the data source' })
  const number = page.getByLabel('Type 3 to delete the data source with 3 monitors')
  await number.fill('2')
  t.ok(await remove.isDisabled())
  await number.fill('3')
  await remove.click()
  await page.waitForURL(`${origin}/sources`)
  t.equal((await call('GET', `/data-sources/${id}`)).status, 404)
  t.same(
    complaints.filter(complaint => !complaint.includes('404')),
    [],
  )
})

t.test('A source that cannot be fetched says why, and a viewer changes nothing', async t => {
  serve('<html>')
  target.behave({ kind: 'answer', status: 503 })
  const { id } = (await call('POST', '/data-sources', { name: 'Broken', url: target.url })).body.data
  await waitFor(async () => (await call('GET', `/data-sources/${id}`)).body.data.last_error, { label: 'a failure' })
  const { page, complaints } = await openPage(t, `/sources/${id}`)
  await page.getByText(/The document could not be fetched: .*503/).waitFor()
  await field(page, 'Name').fill('Renamed')
  await page.getByRole('link', { name: 'Overview' }).click()
  t.match(complaints.splice(0).join(), /dialog/, 'a form with changes asks')
  const { page: seen } = await openPage(t, '/sources', viewer.token, PHONE)
  await seen
    .getByRole('cell', { name: /^Broken/ })
    .getByText(/status 503/)
    .waitFor()
  t.equal(await readOverflow(seen), 0)
  await seen.getByRole('link', { name: 'Broken' }).click()
  await seen.getByText('Changing the data source needs the role editor').waitFor()
  t.equal(await seen.locator('main button:enabled').count(), 0, 'a viewer has no buttons')
  t.same(complaints, [])
})

t.test('A vendor of the catalog is tracked, and each channel gets what a person chooses', async t => {
  const body = { name: 'Ops', type: 'webhook', config: { url: 'https://hooks.example.com/x' } }
  const channel = (await call('POST', '/alerts/channels', body)).body.data
  const { page, complaints } = await openPage(t, '/dependencies')
  await page.getByText('There is no dependency.').waitFor()
  await page.getByRole('link', { name: 'Add a dependency' }).first().click()
  await page.getByRole('searchbox').fill('github')
  await page.getByRole('searchbox').press('Enter')
  await page.waitForURL(/q=github/)
  t.same(await findAccessibilityProblems(page), [], 'the catalog')
  await page.getByRole('button', { name: 'Track GitHub', exact: true }).click()
  await page.waitForURL(/\/dependencies\/[0-9a-f-]{36}$/)
  const id = page.url().split('/').at(-1)!
  await field(page, 'Ops gets').selectOption('down')
  await field(page, 'Components that count, one on each line').fill('Actions\nPages')
  await page.getByRole('button', { name: 'Save the changes' }).click()
  await page.getByText('Saved.', { exact: true }).waitFor()
  const { data } = (await call('GET', `/dependencies/${id}`)).body
  t.same(data.components, ['Actions', 'Pages'])
  t.match(data.overrides, [{ alert_channel_id: channel.id, on_down: true, on_degraded: false, on_resolved: true }])
  t.same(await findAccessibilityProblems(page), [], 'the dependency')
  await page.getByText('The address comes from the catalog').waitFor()
  await page.getByRole('link', { name: 'Dependencies' }).first().click()
  await page.getByRole('link', { name: 'GitHub', exact: true }).waitFor()
  t.same(await findAccessibilityProblems(page), [], 'the list')
  await page.getByRole('link', { name: 'Add a dependency' }).first().click()
  await page.getByRole('searchbox').fill('github')
  await page.getByRole('searchbox').press('Enter')
  await page.getByRole('link', { name: 'Tracked GitHub' }).click()
  await page.getByLabel('Type GitHub to delete the dependency').fill('GitHub')
  await page.getByRole('button', { name: 'Delete the dependency' }).click()
  await page.waitForURL(`${origin}/dependencies`)
  t.equal((await call('GET', `/dependencies/${id}`)).status, 404)
  t.same(
    complaints.filter(complaint => !complaint.includes('404')),
    [],
  )
})

t.test('The feed of another status page is read before it is tracked', async t => {
  const { page, complaints } = await openPage(t, '/dependencies/new', owner.token, PHONE)
  await field(page, 'Address of the status page').fill(target.url)
  t.ok(await page.getByRole('button', { name: 'Track it' }).isDisabled(), 'not read yet')
  target.behave({ kind: 'answer', status: 410 })
  await page.getByRole('button', { name: 'Read the feed' }).click()
  await page.getByText('the feed responded with status 410').waitFor()
  await field(page, 'Kind of feed').selectOption('json')
  serve({ incidents: [{ id: 1, title: 'Queues are slow', severity: 'minor', status: 'investigating' }] })
  await page.getByRole('button', { name: 'Read the feed' }).click()
  await page.getByText('Queues are slow').waitFor()
  t.equal(await readOverflow(page), 0)
  t.same(await findAccessibilityProblems(page), [])
  await page.getByRole('button', { name: 'Track it' }).click()
  await page.waitForURL(/\/dependencies\/[0-9a-f-]{36}$/)
  const id = page.url().split('/').at(-1)
  t.match((await call('GET', `/dependencies/${id}`)).body.data, { feed_type: 'json' })
  await field(page, 'Kind of feed').selectOption('statuspage')
  t.ok(await page.getByRole('button', { name: 'Save the feed' }).isDisabled(), 'the changed feed is not read yet')
  serve({ page: {}, status: { indicator: 'none' }, components: [], incidents: [] })
  await page.getByRole('button', { name: 'Read the feed' }).click()
  await page.getByText('The feed can be read.').waitFor()
  await page.getByRole('button', { name: 'Save the feed' }).click()
  await page.getByText('Saved.', { exact: true }).waitFor()
  t.match((await call('GET', `/dependencies/${id}`)).body.data, {
    ...{ feed_type: 'statuspage', status_url: target.url },
    feed_url: `${target.url.replace(/\/$/, '')}/api/v2/summary.json`,
  })
  t.same(await findAccessibilityProblems(page), [], 'the feed of a dependency')
  t.same(complaints, [])
})

t.test('A data source is paused and resumed, and its monitors say why they have no status', async t => {
  serve({ services: { web: true } })
  const rule = { path: 'services.*', name_template: '{{key}}', rule_type: 'truthy', rule_config: {} }
  const made = await call('POST', '/data-sources', { name: 'Pausable', url: target.url, fields: [rule] })
  const path = `/data-sources/${made.body.data.id}`
  const read = async () => (await call('GET', path)).body.data
  const source = await waitFor(async () => ((await read()).child_monitor_count === 1 ? read() : null))
  const { page, complaints } = await openPage(t, `/sources/${source.id}`)
  await page.getByRole('button', { name: 'Pause the data source' }).click()
  await page
    .getByText('The document is not fetched. The monitors have no status until the source is resumed.')
    .waitFor()
  t.equal(await page.getByRole('button', { name: 'Fetch now' }).count(), 0)
  t.same(await findAccessibilityProblems(page), [])
  t.equal((await read()).is_paused, true)
  const child = source.fields[0].child_monitors[0].monitor_id
  const other = await openPage(t, `/monitors/${child}`, owner.token, PHONE)
  await other.page
    .getByText(/data source is paused/i)
    .first()
    .waitFor()
  await page.getByRole('button', { name: 'Resume the data source' }).click()
  await page.getByRole('button', { name: 'Fetch now' }).waitFor()
  t.equal((await read()).is_paused, false)
  t.same([...complaints, ...other.complaints], [])
})
