import type { Page } from 'playwright-core'
import t from 'tap'
import { startApi } from '../support/api-server.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import {
  addSession,
  holdChanges,
  noteFocusAt,
  readOverflow,
  readText,
  readUntil,
} from '../support/dashboard-browser.ts'
import { createPerson, PERSON_PASSWORD } from '../support/person.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import { openBrowser } from './open-browser.ts'

const api = await startApi(t, { HOST: 'localhost', EGRESS_ALLOW: '127.0.0.0/8' })
const origin = api.origin.replace('127.0.0.1', 'localhost')
const { openTab } = await openBrowser(t)
const owner = await createPerson(api, 'ann@example.com')
const call = (method: string, path: string, body?: unknown) => api.call(method, path, { key: owner.key, body })
const createMonitor = async (body: object) => (await call('POST', '/monitors', body)).body.data

/** A browser in which the person is signed in and sees `path`. */
async function openAt(t: Teardown, path: string, options: object = {}) {
  const { page, complaints } = await openTab(t, origin, { reducedMotion: 'reduce', ...options })
  await page.goto(`${origin}/sign-in?${new URLSearchParams({ return_to: path })}`)
  await page.getByLabel('Email address').fill(owner.email)
  await page.getByLabel('Password').fill(PERSON_PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(origin + path)
  // the sign-in page is not what is watched
  complaints.length = 0
  return { page, complaints }
}

const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })

t.test('A person creates a monitor with the keyboard, and an error of the API is at its field', async t => {
  const { page } = await openAt(t, '/monitors/new')
  await field(page, 'Address').fill('shop.example.com/health')
  await page.keyboard.press('Tab')
  t.equal(await field(page, 'Address').inputValue(), 'https://shop.example.com/health')
  t.equal(await field(page, 'Name').inputValue(), 'shop.example.com/health')
  const guarantee = page.getByRole('complementary', { name: 'Guarantee' })
  t.match(await guarantee.textContent(), /refuses connectionsafter 1 min 7 s/)
  await field(page, 'How often, in each region').selectOption('30')
  t.match(await guarantee.textContent(), /refuses connectionsafter 37 s/, 'the guarantee follows the form')

  await page.getByText('What counts as success').click()
  await page.getByRole('button', { name: 'Add an assertion' }).click()
  await field(page, 'Value').fill('20x')
  const focused = await noteFocusAt(page, '[aria-invalid="true"]')
  await page.getByRole('button', { name: 'Create the monitor' }).press('Enter')
  await page.getByText('"20x" is not a status code').waitFor()
  t.equal(await focused(), '20x', 'the focus is in the field as soon as it is wrong')
  await field(page, 'Value').fill('204')
  await field(page, 'Value').press('Enter')
  await page.waitForURL(/\/monitors\/[0-9a-f-]{36}$/)
  const { data } = (await call('GET', `/monitors/${page.url().split('/').at(-1)}`)).body
  t.match(data, { name: 'shop.example.com/health', url: 'https://shop.example.com/health', interval_seconds: 30 })
  t.same(data.assertions, [{ type: 'status_code', operator: 'equals', value: '204' }])
})

t.test('A test says for each region why it has no result, and nothing is stored', async t => {
  const { page, complaints } = await openAt(t, '/monitors/new?url=never.example.com')
  await page.getByRole('button', { name: 'Try it' }).click()
  await page.getByText('no probe of us-east is connected').waitFor()
  await page.getByRole('img', { name: 'Test: us-east no vote, eu-west no vote, ap-southeast no vote' }).waitFor()
  t.equal((await call('GET', '/monitors?q=never.example.com')).body.meta.total, 0)

  await page.goto(`${origin}/start`)
  const tested: string[] = []
  page.on('request', request => {
    if (request.url().endsWith('/monitors/test')) tested.push(request.postDataJSON().url)
  })
  await field(page, 'Address').fill('left.example.com')
  await field(page, 'Address').press('Tab')
  await page.getByText('no probe of us-east is connected').waitFor()
  t.same(tested, ['https://left.example.com'], 'an address is tried when the field is left')
  await field(page, 'Address').focus()
  await field(page, 'Address').press('Tab')
  // the request for a changed address comes after one that leaving the unchanged address would cause
  await field(page, 'Address').fill('changed.example.com')
  await field(page, 'Address').press('Tab')
  await waitFor(() => tested.includes('https://changed.example.com'), { label: 'the test of the changed address' })
  const addresses = ['https://left.example.com', 'https://changed.example.com']
  t.same(tested, addresses, 'an unchanged address is not tried again')
  t.same(complaints, [])
})

t.test('Pasted lines become monitors, each with its own result', async t => {
  const { page, complaints } = await openAt(t, '/monitors/new')
  // a click waits until the field is enabled
  await field(page, 'Address').click()
  await page.evaluate(`(() => {
    const data = new DataTransfer()
    data.setData('text', 'one.example.com\\nhttps://user:secret@two.example.com\\nthree.example.com')
    document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }))
  })()`)
  await page.getByRole('button', { name: 'Create 3 monitors' }).click()
  await page.getByText('2 monitors created, 1 not').waitFor()
  await page.getByText('url contains a user name or password').waitFor()
  t.equal(await field(page, 'Addresses, one on each line').inputValue(), 'https://user:secret@two.example.com')
  t.equal((await call('GET', '/monitors?q=three.example.com')).body.meta.total, 1)
  t.same(complaints, [])
})

t.test('Two people edit a monitor, and nothing is overwritten without a question', async t => {
  const { id } = await createMonitor({ name: 'Both', type: 'http', url: 'https://both.example.com', tags: ['shop'] })
  const { page, complaints } = await openAt(t, `/monitors/${id}/settings`)
  await field(page, 'How often, in each region').selectOption('120')
  await call('PUT', `/monitors/${id}`, { interval_seconds: 300, name: 'Theirs' })
  await page.getByRole('button', { name: 'Save the changes' }).click()
  const review = page.getByRole('row', { name: 'Interval' })
  await review.waitFor()
  t.match(await review.textContent(), /1 min5 min2 min \(replaces the saved one\)/)
  t.equal((await call('GET', `/monitors/${id}`)).body.data.interval_seconds, 300, 'nothing is saved yet')
  await page.getByRole('button', { name: 'Save my changes' }).click()
  await page.getByText('Saved.', { exact: true }).waitFor()
  t.match((await call('GET', `/monitors/${id}`)).body.data, { interval_seconds: 120, name: 'Theirs', tags: ['shop'] })

  const release = await holdChanges(page)
  await field(page, 'Name').fill('Sent')
  const save = page.getByRole('button', { name: 'Save the changes' })
  const request = page.waitForRequest(one => one.method() === 'PUT')
  await save.click()
  await request
  await field(page, 'Name').fill('Typed while it was saved')
  release()
  await save.and(page.locator(':enabled')).waitFor()
  t.equal(await field(page, 'Name').inputValue(), 'Typed while it was saved')
  t.equal(await page.getByText('Saved.', { exact: true }).count(), 0)
  t.equal((await call('GET', `/monitors/${id}`)).body.data.name, 'Sent')
  t.same(complaints, [])
})

t.test(
  'The parents of a monitor follow the record, and an own choice overwrites nothing without a question',
  async t => {
    const monitors = []
    for (const name of ['Child', 'Router', 'Switch'])
      monitors.push(await createMonitor({ name, type: 'http', url: 'https://parents.example.com' }))
    const [child, router, switched] = monitors.map(({ id }) => id)
    const store = (ids: string[]) => call('PUT', `/monitors/${child}/parents`, { parent_ids: ids })
    const { context, page, complaints } = await openTab(t, origin)
    await addSession(context, owner.token)
    await page.clock.install()
    await page.goto(`${origin}/monitors/${child}/settings`)
    const parents = page.getByRole('region', { name: 'Parents' })
    await parents.getByText('No monitor is chosen.').waitFor()
    await page.locator('button.search:enabled').waitFor()
    await store([router])
    await readUntil(page, () => parents.getByText('Router', { exact: true }).isVisible(), 'the stored parent')
    const save = parents.getByRole('button', { name: 'Save the parents' })
    t.equal(await save.isDisabled(), true, 'nothing is to be saved')
    await parents.getByRole('button', { name: 'Remove Router' }).click()
    await store([router, switched])
    // a click would wait until the button is enabled, which it is not when the page has read the change already
    await save.dispatchEvent('click')
    await parents.getByText('Another person changed the parents.').waitFor()
    const stored = (await call('GET', `/monitors/${child}/parents`)).body.data.parent_ids
    t.same(stored.sort(), [router, switched].sort(), 'nothing is overwritten')
    t.same(complaints, [])
  },
)

t.test(
  'When the session ends while a person types, the form keeps the text, and saves it after signing in again',
  async t => {
    const { id } = await createMonitor({ name: 'Long text', type: 'http', url: 'https://long.example.com' })
    const editor = await createPerson(api, 'eve@example.com', { role: 'editor', invitedBy: owner })
    const { context, page, complaints } = await openTab(t, origin)
    await addSession(context, editor.token)
    await page.goto(`${origin}/monitors/${id}/settings`)
    await field(page, 'Name').fill('A name that took')
    await editor.signOut()
    await field(page, 'Name').press('End')
    await page.keyboard.type(' long to type')
    await page.getByRole('button', { name: 'Save the changes' }).click()
    await page.getByText('Your session has ended. What you typed is still here.').waitFor()
    t.equal(await field(page, 'Name').inputValue(), 'A name that took long to type')
    t.equal((await call('GET', `/monitors/${id}`)).body.data.name, 'Long text', 'nothing is saved')

    const other = await context.newPage()
    await other.goto(`${origin}/sign-in`)
    await other.getByLabel('Email address').fill(editor.email)
    await other.getByLabel('Password').fill(PERSON_PASSWORD)
    await other.getByRole('button', { name: 'Sign in' }).click()
    await other.waitForURL(`${origin}/`)
    await other.close()
    await page.getByRole('button', { name: 'Save the changes' }).click()
    await page.getByText('Saved.', { exact: true }).waitFor()
    await page.locator('.notice.session').waitFor({ state: 'detached' })
    t.equal((await call('GET', `/monitors/${id}`)).body.data.name, 'A name that took long to type')
    t.same(
      complaints.filter(text => !/Failed to load resource.*401/.test(text)),
      [],
      'browsers report the refused requests only',
    )
  },
)

t.test('A form with changes asks before it is left, and a monitor is deleted after its name is typed', async t => {
  const { id } = await createMonitor({ name: 'Old shop', type: 'http', url: 'https://old.example.com' })
  const { page, complaints } = await openAt(t, `/monitors/${id}/settings`)
  await field(page, 'Name').fill('New name')
  await page.getByRole('link', { name: 'Old shop' }).click()
  t.match(complaints, [/dialog: Leave this page\?/], 'the question is refused by the watched page')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Monitor, page or action' }).fill('incidents')
  await page.getByRole('option', { name: 'Incidents Page', exact: true }).waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('combobox', { name: 'Monitor, page or action' }).waitFor({ state: 'detached' })
  t.match(complaints.splice(1), [/dialog: Leave this page\?/], 'the palette asks too')
  t.equal(new URL(page.url()).pathname, `/monitors/${id}/settings`)
  t.equal(await field(page, 'Name').inputValue(), 'New name')
  await field(page, 'Name').fill('Old shop')
  const remove = page.getByRole('button', { name: 'Delete the monitor' })
  await page.getByLabel('Type Old shop to delete the monitor').fill('Old')
  t.equal(await remove.isDisabled(), true)
  await page.getByLabel('Type Old shop to delete the monitor').fill('Old shop')
  await remove.click()
  await page.waitForURL(`${origin}/monitors`)
  t.equal((await call('GET', `/monitors/${id}`)).status, 404)
  t.same(complaints.slice(1), [], 'the deleted monitor is not read again')
})

t.test('A webhook is tested before it is created, and its secret is shown once', async t => {
  const receiver = await startReceiver(t)
  const { page, complaints } = await openAt(t, '/settings/channels/new')
  await field(page, 'Address').fill(receiver.url)
  await page.getByRole('button', { name: 'Send a test' }).click()
  const result = page.getByRole('status').filter({ hasText: 'The receiver accepted the message.' })
  await result.waitFor()
  const [sent] = receiver.received
  t.match(await readText(result), `Answer 200`)
  t.match(await readText(result), `Address ${receiver.url}`)
  await result.getByText('Request', { exact: true }).click()
  t.ok((await result.locator('pre').last().textContent())!.includes(sent!.rawBody), 'the bytes that were sent')
  t.equal((await call('GET', '/alerts/channels')).body.meta.total, 0)
  await field(page, 'Address').fill(`${receiver.url}/other`)
  // the result of the test is of the previous address
  await page.getByText('The receiver accepted the message.').waitFor({ state: 'detached' })
  await field(page, 'Name').fill('Operations')
  await page.getByRole('button', { name: 'Create the channel' }).click()
  t.match(await page.getByText(/^whsec_/).textContent(), /^whsec_.{20,}/)
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await page.getByRole('heading', { name: 'Operations' }).waitFor()
  t.equal(await page.getByText(/whsec_/).count(), 0)
  await page.getByRole('button', { name: 'Rotate the secret' }).click()
  await page.getByText(/^whsec_/).waitFor()
  t.same(complaints, [])
})

t.test(
  'The rule of a channel is added, changed and removed in the settings of a monitor, and a copy is created',
  async t => {
    const { id } = await createMonitor({
      name: 'Ruled',
      type: 'http',
      url: 'https://ruled.example.com',
      tags: ['shop'],
    })
    const body = { name: 'Pager', type: 'webhook', config: { url: 'https://hooks.example.com/x' } }
    const channel = (await call('POST', '/alerts/channels', body)).body.data
    // a default channel has a rule of its own
    const readRules = async () =>
      (await call('GET', `/alerts/rules?monitor_id=${id}`)).body.data.filter(
        (rule: { alert_channel_id: string }) => rule.alert_channel_id === channel.id,
      )
    const { page, complaints } = await openAt(t, `/monitors/${id}/settings`)
    const row = page.locator('.alert-rules > li', { hasText: 'Pager' })
    const choice = (name: string) => row.getByRole('checkbox', { name, exact: true })
    await choice('Pager').and(page.locator(':enabled')).click()
    await choice('Degraded').waitFor()
    t.match(await readRules(), [{ on_down: true, on_recovery: true }])
    const before = (await readRules())[0].on_degraded
    await choice('Degraded').and(page.locator(':enabled')).click()
    await waitFor(async () => (await readRules())[0].on_degraded === !before, { label: 'the event' })
    await row.getByRole('combobox', { name: 'Remind' }).selectOption('30')
    await waitFor(async () => (await readRules())[0].remind_every_minutes === 30, { label: 'the reminder' })
    t.equal((await readRules())[0].on_degraded, !before, 'only what was changed')
    await choice('Pager').and(page.locator(':enabled')).click()
    await waitFor(async () => (await readRules()).length === 0, { label: 'no rule' })

    await page.getByRole('link', { name: 'Make a copy' }).click()
    await page.waitForURL(`${origin}/monitors/new?copy=${id}`)
    await field(page, 'Name').fill('Second')
    await page.getByRole('button', { name: 'Create the monitor' }).click()
    await page.waitForURL(/\/monitors\/[0-9a-f-]{36}$/)
    const copy = (await call('GET', `/monitors/${page.url().split('/').at(-1)}`)).body.data
    t.not(copy.id, id)
    t.match(copy, { name: 'Second', type: 'http', url: 'https://ruled.example.com', tags: ['shop'] })
    t.same(complaints, [])
  },
)

t.test('The forms are accessible on phones, in dark', async t => {
  const monitor = await createMonitor({
    name: 'Look',
    type: 'http',
    url: 'https://look.example.com',
    headers: { 'X-A': '1' },
  })
  const channel = (
    await call('POST', '/alerts/channels', { name: 'Mail', type: 'email', config: { to: ['a@example.com'] } })
  ).body.data
  const paths = [`/monitors/${monitor.id}/settings`, '/settings/channels/new', `/settings/channels/${channel.id}`]
  // test/long/dashboard-accessibility.test.ts has the other sizes and schemes
  const look = { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true }
  const { page, complaints } = await openAt(t, '/monitors/new', look)
  for (const path of ['/monitors/new', '/monitors/unalerted', ...paths]) {
    await page.goto(origin + path)
    await page.evaluate("document.querySelectorAll('details.group').forEach(one => { one.open = true })")
    t.same(await findAccessibilityProblems(page), [], path)
    t.equal(await readOverflow(page), 0, path)
  }
  t.same(complaints, [])
})
