import type { Locator, Page } from 'playwright-core'
import t from 'tap'
import { recordChannelResults } from '../../control-plane/alerting/deliveries/attempts/channel-failure-actions.ts'
import { PAUSE_AFTER_FAILURES } from '../../control-plane/alerting/deliveries/attempts/failure-count.ts'
import { startApi } from '../support/api-server.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { holdChanges, readOverflow } from '../support/dashboard-browser.ts'
import { insertOutage } from '../support/outage.ts'
import { createPerson, PERSON_PASSWORD } from '../support/person.ts'
import type { Teardown } from '../support/teardown.ts'
import { openBrowser } from './open-browser.ts'

const api = await startApi(t, { HOST: 'localhost' })
const origin = api.origin.replace('127.0.0.1', 'localhost')
const { newContext, openTab } = await openBrowser(t)

const owner = await createPerson(api, 'ann@example.com')
const viewer = await createPerson(api, 'bob@example.com', { role: 'viewer', invitedBy: owner })
const projectId = (await api.call('GET', '/me', { key: owner.key })).body.data.project.id
const channel = { name: 'Operations', type: 'webhook', config: { url: 'https://hooks.example.com/x' } }
const channelId = (await api.call('POST', '/alerts/channels', { key: owner.key, body: channel })).body.data.id

/** A browser in which the person is signed in and sees `path`. */
async function openAs(t: Teardown, { email }: { email: string }, path: string, isScripted = true) {
  const options = { reducedMotion: 'reduce', ...(!isScripted && { javaScriptEnabled: false }) } as const
  const { page, complaints } = await openTab(t, origin, options)
  await page.goto(`${origin}/sign-in?${new URLSearchParams({ return_to: path })}`)
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(PERSON_PASSWORD)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL(origin + path)
  // the sign-in page is not what is watched
  complaints.length = 0
  return { page, complaints }
}

t.test('A person finds an outage, acknowledges it, posts updates and resolves it', async t => {
  const { incidentId } = await insertOutage(api.db, projectId, channelId)
  const { page, complaints } = await openAs(t, owner, '/incidents?status=open')
  await page.getByRole('link', { name: 'Checkout is down' }).click()
  await page.waitForURL(`${origin}/incidents/${incidentId}`)
  const axis = page.getByRole('region', { name: 'What happened' })
  await axis.getByText('2 of 3 regions failed 3 checks in a row.').waitFor()
  await axis.getByText('Down: 2 of 3 regions are failing, which is a majority of the votes.').waitFor()

  await page.getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByText('Acknowledged by you', { exact: true }).waitFor()
  // of another read than the text
  await page.getByRole('button', { name: 'Acknowledge' }).waitFor({ state: 'detached' })

  await page.getByLabel('Message').fill('We are restarting it.')
  await page.getByLabel('Status of the incident').selectOption('identified')
  await page.getByRole('group', { name: 'Preview of the status page' }).getByText('We are restarting it.').waitFor()
  await page.getByLabel('Your team only').check()
  await page.getByText('Visitors of status pages will not see this message.').waitFor()
  t.equal(await page.getByRole('group', { name: 'Preview of the status page' }).count(), 0)
  const release = await holdChanges(page)
  await page.getByRole('button', { name: 'Add the update' }).click()
  await page.getByRole('button', { name: 'Add the update' }).and(page.locator(':disabled')).waitFor()
  await page.getByLabel('Message').fill('It is restarting now.')
  release()
  await axis.getByText('We are restarting it.').waitFor()
  await axis.getByText('internal', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Add the update' }).and(page.locator(':enabled')).waitFor()
  t.equal(await page.getByLabel('Message').inputValue(), 'It is restarting now.', 'what was typed meanwhile stays')
  await page.getByRole('link', { name: 'Monitors', exact: true }).click()
  t.match(complaints.splice(0), [/dialog: Leave this page\?/], 'the message is not sent yet')
  await page.getByRole('button', { name: 'Add the update' }).click()
  await axis.getByText('It is restarting now.').waitFor()
  await page.getByRole('button', { name: 'Add the update' }).and(page.locator(':enabled')).waitFor()
  t.equal(await page.getByLabel('Message').inputValue(), '', 'the next message can be written')

  await page.getByRole('button', { name: 'Resolve' }).click()
  await page.getByText('resolved, lasted').waitFor()
  const { status, acknowledged_at: at } = (await api.call('GET', `/incidents/${incidentId}`, { key: owner.key })).body
    .data
  t.equal(status, 'resolved')
  t.ok(at)
  t.same(complaints, [])
})

t.test('The preview of an update has the custom CSS of the page, in light and dark, and only there', async t => {
  const { incidentId, monitorId } = await insertOutage(api.db, projectId, channelId, 'Styled')
  const write = async (method: string, path: string, body: object) =>
    (await api.call(method, path, { key: owner.key, body })).body.data
  const css = [
    'html .incident h3 { color: rgb(1, 2, 3); text-transform: uppercase }',
    '@media (prefers-color-scheme: dark) { .incident h3 { color: rgb(4, 5, 6) } }',
    '@media (prefers-color-scheme: light) { .incident .meta { color: rgb(7, 8, 9) } }',
    'html { position: absolute; inset: -999px; z-index: 9999 }',
  ].join('\n')
  const { id } = await write('POST', '/status-pages', { name: 'Acme', slug: 'acme', template: 'clean' })
  await write('POST', `/status-pages/${id}/components`, { name: 'Styled', monitor_id: monitorId })
  await write('PUT', `/status-pages/${id}`, { is_published: true, custom_css: css })
  const readColors = (place: Locator) =>
    place.evaluate(node => ['h3', '.meta'].map(part => getComputedStyle(node.querySelector(part)!).color))

  const { page, complaints } = await openAs(t, owner, `/incidents/${incidentId}`)
  await page.getByLabel('Message').fill('We are restarting it.')
  const preview = page.getByRole('group', { name: 'Preview of the status page' })
  await preview.getByText('We are restarting it.').waitFor()
  const visitor = await newContext({ javaScriptEnabled: false })
  t.teardown(() => visitor.close())
  const published = await visitor.newPage()
  await published.goto(`${origin}/status/acme`)
  for (const scheme of ['light', 'dark'] as const) {
    const choice = page.getByLabel(scheme === 'light' ? 'Light' : 'Dark', { exact: true })
    // no frame has the previous colours
    const shown = await choice.evaluate(async input => {
      ;(input as HTMLInputElement).click()
      for (let i = 0; i < 20; i++) await null
      const incident = input.ownerDocument.querySelector('.isolated')!.shadowRoot!.querySelector('.incident')!
      return ['h3', '.meta'].map(part => getComputedStyle(incident.querySelector(part)!).color)
    })
    await published.emulateMedia({ colorScheme: scheme })
    const expected = await readColors(published.locator('#open .incident'))
    t.equal(expected[0], scheme === 'light' ? 'rgb(1, 2, 3)' : 'rgb(4, 5, 6)')
    t.same(shown, expected, scheme)
  }
  t.equal(await preview.locator('.incident h3').evaluate(title => getComputedStyle(title).textTransform), 'uppercase')
  // what the CSS places over everything ends at the box
  await page.getByLabel('Message').click()
  await page.getByRole('button', { name: 'Add the update' }).click({ trial: true })
  t.same(complaints, [])
})

t.test(
  'A channel that fails has a banner and is resumed; the receipt of its delivery leads to another attempt',
  async t => {
    const body = { ...channel, name: 'Pager' }
    const pagerId = (await api.call('POST', '/alerts/channels', { key: owner.key, body })).body.data.id
    const { incidentId, deliveryId } = await insertOutage(api.db, projectId, pagerId, 'Payments')
    const failed = Array.from({ length: PAUSE_AFTER_FAILURES }, () => ({ channelId: pagerId, succeeded: false }))
    await api.db.transaction(tx => recordChannelResults(tx, failed, new Date()))
    const { page, complaints } = await openAs(t, owner, '/settings/channels')
    const banner = page.getByRole('region', { name: 'Pager is paused' })
    await banner
      .getByText(/: 50 deliveries in a row failed; resume the channel when its receiver works again/)
      .waitFor()
    t.same(await findAccessibilityProblems(page), [], 'the banner')
    await banner.getByRole('button', { name: 'Resume Pager' }).click()
    await banner.waitFor({ state: 'detached' })
    const { data } = (await api.call('GET', `/alerts/channels/${pagerId}`, { key: owner.key })).body
    t.match(data, { is_paused: false, consecutive_failures: 0 })

    await page.goto(`${origin}/incidents/${incidentId}`)
    await page.getByRole('link', { name: 'Receipt of Monitor down to Pager' }).click()
    await page.waitForURL(`${origin}/log/${deliveryId}`)
    t.match(await page.getByRole('region', { name: 'Attempts' }).textContent(), /503.*HTTP 503.*<b>no capacity<\/b>/)
    t.match(await page.getByRole('region', { name: 'Request' }).textContent(), /X-Api-Key\*{8}/)
    await page.getByRole('button', { name: 'Send again' }).click()
    await page.getByText('It can be sent again when it has ended.').waitFor()
    t.equal((await api.call('GET', `/alerts/log/${deliveryId}`, { key: owner.key })).body.data.status, 'pending')

    await page.goto(`${origin}/log`)
    // without the script, a form sends the fields that are empty too
    await page.locator('button.search:enabled').waitFor()
    await page.getByLabel('Channel').selectOption({ label: 'Pager' })
    await page.getByLabel('Status').selectOption('pending')
    await page.getByRole('button', { name: 'Filter' }).click()
    await page.waitForURL(`${origin}/log?status=pending&alert_channel_id=${pagerId}`)
    t.equal(await page.evaluate('document.activeElement.textContent'), 'Filter', 'the focus stays')
    await page.locator(`a[href="/log/${deliveryId}"]`).waitFor()
    t.same(complaints, [])
  },
)

t.test('Without scripts an incident is acknowledged, updated, and found by a filter', async t => {
  const { incidentId } = await insertOutage(api.db, projectId, channelId, 'Login')
  const { page } = await openAs(t, owner, `/incidents/${incidentId}`, false)
  await page.getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByText('Acknowledged by you', { exact: true }).waitFor()
  t.equal(page.url(), `${origin}/incidents/${incidentId}`)
  await page.getByLabel('Message').fill('The provider is informed.')
  await page.getByLabel('Status of the incident').selectOption('monitoring')
  await page.getByRole('button', { name: 'Add the update' }).click()
  await page.getByText('The provider is informed.').waitFor()
  t.match(await page.getByRole('region', { name: 'What happened' }).textContent(), /Monitoring by you public/)
  await page.goto(`${origin}/incidents`)
  await page.getByLabel('Title contains').fill('login')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.getByRole('link', { name: 'Login is down' }).waitFor()
  t.match(page.url(), /\/incidents\?q=login/)
  t.equal(await page.getByRole('link', { name: 'Checkout is down' }).count(), 0)
})

t.test('A viewer sees all pages without buttons that change something', async t => {
  const { incidentId, deliveryId } = await insertOutage(api.db, projectId, channelId)
  const paths = [`/incidents/${incidentId}`, `/log/${deliveryId}`, '/settings/channels']
  const { page, complaints } = await openAs(t, viewer, paths[0]!)
  for (const path of paths) {
    await page.goto(origin + path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    t.equal(await page.locator('main').getByRole('button').count(), 0, path)
  }
  t.same(complaints, [])
})

t.test('The pages are accessible on phones, in dark', async t => {
  const { incidentId, deliveryId } = await insertOutage(
    api.db,
    projectId,
    channelId,
    'A service with a rather long name',
  )
  const { page, complaints } = await openAs(t, owner, '/incidents')
  // test/long/dashboard-accessibility.test.ts has the other sizes and schemes
  await page.setViewportSize({ width: 390, height: 844 })
  await page.emulateMedia({ colorScheme: 'dark' })
  const template = { name: 'Provider outage', message: 'Our provider reports an outage.' }
  await api.call('POST', '/incident-templates', { key: owner.key, body: template })
  const destination = `INSERT INTO relay_destinations (id, project_id, origin, created_at, updated_at)
    VALUES (gen_random_uuid(), ?, 'https://hooks.example.com', now(), now())`
  await api.db.raw(destination, [projectId])
  const paths = ['/incidents', `/incidents/${incidentId}`, '/log', `/log/${deliveryId}`, '/settings/channels']
  const others = ['/incidents/templates', `/incidents/${incidentId}/edit`, '/log/relay']
  for (const path of [...paths, ...others, '/incidents?q=nothing', '/log?status=dead']) {
    await page.goto(origin + path)
    t.equal(await readOverflow(page), 0, `${path}: no horizontal scrolling`)
    t.same(await findAccessibilityProblems(page), [], `${path}: axe finds nothing`)
  }
  t.same(complaints, [])
})

t.test('Incidents are found, acknowledged and opened by keys, and a viewer only moves and opens', async t => {
  const { incidentId } = await insertOutage(api.db, projectId, channelId, 'Search by keys')
  const second = await insertOutage(api.db, projectId, channelId, 'Login by keys')
  const readTime = async (id: string) =>
    (await api.call('GET', `/incidents/${id}`, { key: owner.key })).body.data.acknowledged_at as string | null
  const list = '/incidents?status=open&q=by+keys'
  const openList = async (who: { email: string }) => {
    const watched = await openAs(t, who, list)
    await watched.page.locator('button.search:enabled').waitFor()
    return watched
  }
  const focusOn = async (page: Page, key: string, name: string) => {
    await page.keyboard.press(key)
    await page.locator('a.row:focus', { hasText: name }).waitFor()
  }

  const other = await openList(viewer)
  await focusOn(other.page, 'j', 'Login by keys')
  await other.page.keyboard.press('a')
  await focusOn(other.page, 'j', 'Search by keys')
  await other.page.keyboard.press('a')
  await other.page.keyboard.press('Enter')
  await other.page.waitForURL(`${origin}/incidents/${incidentId}`)
  await other.page.keyboard.press('a')
  await other.page.keyboard.press('e')
  t.same([await readTime(incidentId), await readTime(second.incidentId)], [null, null])
  t.equal(other.page.url(), `${origin}/incidents/${incidentId}`)
  t.same(other.complaints, [])

  const { page, complaints } = await openList(owner)
  await page.getByLabel('Title contains').press('a')
  await page.getByRole('heading', { level: 1 }).click()
  await focusOn(page, 'j', 'Login by keys')
  await focusOn(page, 'j', 'Search by keys')
  await focusOn(page, 'k', 'Login by keys')
  await page.keyboard.press('a')
  await page.getByText('Login by keys is down is acknowledged.').waitFor({ state: 'attached' })
  await page.locator('tr', { hasText: 'Login by keys' }).getByText('by you').waitFor()
  t.ok(await readTime(second.incidentId))
  t.equal(await readTime(incidentId), null, 'only the row with the focus')
  t.same(await findAccessibilityProblems(page), [])
  await focusOn(page, 'j', 'Search by keys')
  await page.keyboard.press('Enter')
  await page.waitForURL(`${origin}/incidents/${incidentId}`)
  await page.getByRole('button', { name: 'Acknowledge' }).waitFor()
  await page.keyboard.press('a')
  await page.getByText('Acknowledged by you', { exact: true }).waitFor()
  t.ok(await readTime(incidentId))
  await page.keyboard.press('e')
  await page.waitForURL(`${origin}/incidents/${incidentId}/edit`)
  t.same(complaints, [])
})
