import type { Page, Route } from 'playwright-core'
import t from 'tap'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { addSession } from '../support/dashboard-browser.ts'
import { createPerson } from '../support/person.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import { openBrowser } from './open-browser.ts'

const api = await startApi(t, { HOST: 'localhost', EGRESS_ALLOW: '127.0.0.0/8' })
const origin = api.origin.replace('127.0.0.1', 'localhost')
const { openTab } = await openBrowser(t)
const owner = await createPerson(api, 'ann@example.com')
const viewer = await createPerson(api, 'vic@example.com', { role: 'viewer', invitedBy: owner })
const call = (method: string, path: string, body?: unknown) => api.call(method, path, { key: owner.key, body })
const create = async (path: string, body: object) => (await call('POST', path, body)).body.data

/** A browser in which a person is signed in and sees `path`. */
async function openAt(t: Teardown, path: string, person = owner, options: object = {}) {
  const watched = await openTab(t, origin, { reducedMotion: 'reduce', ...options })
  await addSession(watched.context, person.token)
  await watched.page.goto(origin + path)
  return watched
}

const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
async function checkAccessibility(page: Page): Promise<string[]> {
  return findAccessibilityProblems(page)
}

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

t.test(
  'A person opens an incident by a template, sees what visitors will see, and publishes a post-mortem',
  async t => {
    const shop = await create('/monitors', { name: 'Shop', type: 'http', url: 'https://shop.example.com' })
    const site = await create('/status-pages', { name: 'Acme', slug: 'acme-by-hand', template: 'modern' })
    await create(`/status-pages/${site.id}/components`, { name: 'Online shop', monitor_id: shop.id })
    await call('PUT', `/status-pages/${site.id}`, { is_published: true })
    const { page, complaints } = await openAt(t, '/incidents/templates')
    await field(page, 'Name').fill('Provider outage')
    await field(page, 'Title of the incident').fill('Our provider has an outage')
    await field(page, 'Severity').selectOption('major')
    await field(page, 'Message').fill('Our provider reports an outage.')
    await button(page, 'Create the template').click()
    await page.getByRole('heading', { name: 'Provider outage' }).waitFor()
    const mayLeave = `dispatchEvent(new Event('beforeunload', { cancelable: true }))`
    await waitFor(() => page.evaluate(mayLeave), { label: 'the end of the question of the saved form' })

    await page.goto(`${origin}/incidents`)
    await page.getByRole('link', { name: 'Open an incident' }).click()
    await button(page, 'Open the incident').click()
    await page.getByText(/title must /).waitFor()
    await waitFor(async () => (await page.evaluate('document.activeElement.name')) === 'title', {
      label: 'the focus in the field',
    })
    await field(page, 'Template').selectOption({ label: 'Provider outage' })
    t.equal(await field(page, 'Title').inputValue(), 'Our provider has an outage')
    await field(page, 'Monitors').fill('shop')
    await button(page, 'Add Shop').click()
    const preview = page.getByRole('group', { name: 'Preview of the status page' })
    await preview.getByText('Our provider reports an outage.').waitFor()
    await preview.getByText('Online shop').waitFor()
    await preview.getByText('Major incident').waitFor()
    t.same(await checkAccessibility(page), [], 'the form')
    await button(page, 'Open the incident').click()
    await page.waitForURL(/\/incidents\/[0-9a-f-]{36}$/)
    const id = page.url().split('/').at(-1)
    t.match((await call('GET', `/incidents/${id}`)).body.data, { severity: 'major', monitor_ids: [shop.id] })

    await field(page, 'Message').fill('They have repaired it.')
    await page.getByLabel('Status of the incident').selectOption('resolved')
    await preview.getByText('They have repaired it.').waitFor()
    await page.getByLabel('Your team only').check()
    await page.getByText('Visitors of status pages will not see this message.').waitFor()
    await page.getByLabel('Everyone').check()
    // the page learns late what the update added to the timeline, as on a slow connection
    let release = () => {}
    const clicked = new Promise<void>(resolve => (release = resolve))
    await page.route(/\/timeline/, route => clicked.then(() => route.continue()))
    await button(page, 'Add the update').click()
    await page.getByText(', resolved, lasted').waitFor()
    await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('#message')?.value === '')

    await page.getByRole('link', { name: 'Write one' }).click()
    await button(page, 'Propose a text with the timeline').click()
    release()
    await preview.getByText('Post-mortem').waitFor()
    t.match(
      await field(page, 'Text').inputValue(),
      /^Summary\nOur provider has an outage, from [\s\S]*They have repaired it\./,
    )
    await field(page, 'Text').fill('')
    const error = { status: 503, code: 'unavailable', message: 'not now', request_id: 'x', doc_url: 'x' }
    const refuse = (route: Route) => route.fulfill({ status: 503, json: { error } })
    await page.route(/\/timeline/, refuse)
    await button(page, 'Propose a text with the timeline').click()
    await page.getByRole('alert').getByText('not now.').waitFor()
    t.equal(await field(page, 'Text').inputValue(), '', 'nothing is proposed without the timeline')
    await page.unroute(/\/timeline/, refuse)
    await button(page, 'Propose a text with the timeline').click()
    await preview.getByText('Post-mortem').waitFor()
    t.equal(await page.getByRole('alert').count(), 0)
    await field(page, 'Show it on status pages').check()
    await preview.getByText('Post-mortem').click()
    await preview.getByText(/Affected: Shop/).waitFor()
    t.same(await checkAccessibility(page), [], 'the post-mortem')
    await button(page, 'Save and publish').click()
    await page.getByText('Published on').waitFor()
    t.ok((await call('GET', `/incidents/${id}`)).body.data.postmortem_published_at)
    t.same(
      complaints.filter(text => !/Failed to load resource.*(400|503)/.test(text)),
      [],
      'browsers report the refused requests only',
    )
  },
)

t.test('An incident is changed and deleted on its page, and a form with changes asks before it is left', async t => {
  const shop = await create('/monitors', { name: 'Till', type: 'http', url: 'https://till.example.com' })
  const { id } = await create('/incidents', { title: 'Tills are slow', monitor_ids: [shop.id] })
  const { page, complaints } = await openAt(t, `/incidents/${id}`)
  await page.getByRole('link', { name: 'Edit' }).click()
  await field(page, 'Title').fill('Tills are down')
  await page.getByRole('link', { name: 'Tills are slow' }).click()
  t.match(complaints, [/dialog: Leave this page\?/])
  await button(page, 'Remove Till').click()
  await button(page, 'Save the changes').click()
  await page.getByRole('heading', { name: 'Tills are down', level: 1 }).waitFor()
  t.same((await call('GET', `/incidents/${id}`)).body.data.monitor_ids, [])
  await page.getByRole('link', { name: 'Edit' }).click()
  await page.getByLabel('Type Tills are down to delete the incident').fill('Tills are down')
  await button(page, 'Delete the incident').click()
  await page.waitForURL(`${origin}/incidents`)
  t.equal((await call('GET', `/incidents/${id}`)).status, 404)
  t.same(
    complaints.filter(text => !/dialog: Leave/.test(text)),
    [],
    'the deleted incident is not read again',
  )
})

t.test(
  'A form in which nothing was typed follows the record, and no text of another person is overwritten',
  async t => {
    const { id } = await create('/incidents', { title: 'Tills were slow' })
    await call('POST', `/incidents/${id}/resolve`)
    const stored = async () => (await call('GET', `/incidents/${id}`)).body.data
    const { page, complaints } = await openAt(t, `/incidents/${id}/postmortem`)
    const text = 'A disk was full. '.repeat(300)
    await call('PUT', `/incidents/${id}`, { postmortem: text })
    await waitFor(async () => (await field(page, 'Text').inputValue()) === text, {
      label: 'the text of the other person',
    })
    t.ok(await button(page, 'Save').isDisabled(), 'nothing is to be saved')

    await field(page, 'Text').fill('Mine.')
    await call('PUT', `/incidents/${id}`, { postmortem: 'Theirs.' })
    await page.getByText('Another person changed this incident. Your changes are not saved yet.').waitFor()
    t.ok(await button(page, 'Save').isDisabled(), 'the person chooses first')
    t.same(await checkAccessibility(page), [])
    await button(page, 'Show what is saved now').click()
    t.equal(await field(page, 'Text').inputValue(), 'Theirs.')

    const template = await create('/incident-templates', { name: 'Till', message: 'Tills are slow.' })
    await page.goto(`${origin}/incidents/templates`)
    await page.locator('button.search:enabled').waitFor()
    await button(page, 'Edit Till').click()
    const form = page.getByRole('form', { name: 'Till' })
    await form.getByLabel('Name').fill('Tills')
    await button(page, 'Close Till').click()
    t.match(complaints.splice(-1), [/dialog: Close this form\?/])
    t.equal(await form.getByLabel('Name').inputValue(), 'Tills', 'the refused question keeps what was typed')
    await call('PUT', `/incident-templates/${template.id}`, { message: 'Tills are slow again.' })
    // a click would wait until the button is enabled, which it is not when the page has read the change already
    await button(page, 'Save the changes').dispatchEvent('click')
    await button(page, 'keep your changes').click()
    t.equal(await form.getByLabel('Message').inputValue(), 'Tills are slow again.')
    t.equal(await form.getByLabel('Name').inputValue(), 'Tills')
    await button(page, 'Save the changes').click()
    await page.getByRole('heading', { name: 'Tills', exact: true }).waitFor()
    const saved = (await call('GET', `/incident-templates/${template.id}`)).body.data
    t.match(saved, { name: 'Tills', message: 'Tills are slow again.' })
    t.equal((await stored()).postmortem, 'Theirs.')
    t.same(
      complaints.filter(complaint => !/dialog: Leave/.test(complaint)),
      [],
    )
  },
)

t.test('A tab says that its browser changed to another organization, and sends nothing to that', async t => {
  const member = await createPerson(api, 'max@example.com', { role: 'editor', invitedBy: owner })
  const other = await api.tenant()
  await execute(api.db, 'UPDATE users SET email_proven_at = now() WHERE email = ?', [member.email])
  await api.call('POST', '/agent/invite', { key: other.key, body: { email: member.email, role: 'editor' } })
  const { page, complaints } = await openAt(t, '/incidents/new', member)
  await field(page, 'Title').fill('Only for the first organization')
  const enter = `fetch('/account/organization', { method: 'POST', body: new URLSearchParams({ organization_id: '${other.organizationId}' }) })`
  await page.evaluate(enter)
  await button(page, 'Open the incident').click()
  const notice = page.getByText('This browser is now signed in to another organization')
  await notice.waitFor()
  t.equal(await field(page, 'Title').inputValue(), 'Only for the first organization', 'what was typed is still there')
  t.same(await checkAccessibility(page), [])
  for (const { key } of [owner, other])
    t.notMatch(JSON.stringify((await api.call('GET', '/incidents', { key })).body), 'Only for the first')
  page.removeAllListeners('dialog')
  page.on('dialog', dialog => dialog.accept())
  await page.getByRole('link', { name: 'Load this page again' }).click()
  await notice.waitFor({ state: 'detached' })
  await button(page, 'Open the incident').and(page.locator(':enabled')).waitFor()
  t.same(
    complaints.filter(text => !/409|dialog: Leave/.test(text)),
    [],
  )
})

t.test('A person subscribes a channel, sets digests, sees every message, and sends dead deliveries again', async t => {
  const config = { url: 'http://127.0.0.1:9/hook', relay_source_id: 'shop' }
  const channel = await create('/alerts/channels', { name: 'Pager', type: 'webhook', config })
  const { page, complaints } = await openAt(t, '/settings/alerts')
  const isSent = page.getByLabel('Incidents to Pager')
  await isSent.and(page.locator(':enabled')).click()
  await isSent.and(page.locator(':checked:enabled')).waitFor()
  t.match((await call('GET', '/alerts/project-channels')).body.data, [
    { alert_channel_id: channel.id, alert_type: 'incident' },
  ])
  await field(page, 'Monitors that may change in a minute').fill('0')
  await button(page, 'Save the changes').click()
  await page.getByText(/digest_threshold must be/).waitFor()
  await field(page, 'Monitors that may change in a minute').fill('25')
  await button(page, 'Save the changes').click()
  await page.getByText('Saved.', { exact: true }).waitFor()
  t.equal((await call('GET', '/alerts/settings')).body.data.digest_threshold, 25)
  await page.getByLabel('Combine many alerts into one message').uncheck()
  await button(page, 'Save the changes').click()
  await waitFor(async () => !(await call('GET', '/alerts/settings')).body.data.is_digest_enabled, {
    label: 'no digests',
  })
  t.same(await checkAccessibility(page), [], 'the settings')

  const { id } = await create('/monitors', { name: 'Nightly', type: 'http', url: 'https://a.example.com/' })
  const readRules = async () => (await call('GET', `/alerts/rules?monitor_id=${id}`)).body.data
  await page.goto(`${origin}/monitors/${id}/settings`)
  await page.getByLabel('Pager', { exact: true }).and(page.locator(':enabled')).click()
  const reminds = page.getByLabel('Remind').and(page.locator(':enabled'))
  await reminds.selectOption({ label: 'every 15 min' })
  await waitFor(async () => (await readRules())[0]?.remind_every_minutes === 15, { label: 'the reminder is saved' })
  await reminds.selectOption({ label: 'never' })
  await waitFor(async () => (await readRules())[0]?.remind_every_minutes === null, { label: 'no reminder' })
  t.match(await readRules(), [{ alert_channel_id: channel.id }])
  await page.goto(`${origin}/settings/alerts`)

  await page.getByRole('link', { name: 'Messages' }).click()
  await page.getByLabel('Event').selectOption('monitor.up')
  await button(page, 'Filter').click()
  await page.getByRole('group', { name: 'The email' }).getByText('Shop is up again').waitFor()
  for (const chat of ['chat_a', 'chat_b', 'chat_c']) {
    await page.locator(`#${chat} .chat-body`).getByText('Shop is up again').waitFor()
  }
  t.same(await checkAccessibility(page), [], 'the messages')

  const { data } = (await call('POST', `/alerts/channels/${channel.id}/test`)).body
  const other = await create('/alerts/channels', { name: 'Archive', type: 'webhook', config })
  const { data: kept } = (await call('POST', `/alerts/channels/${other.id}/test`)).body
  const status = async (id: string) => (await call('GET', `/alerts/log/${id}`)).body.data.status
  await execute(api.db, `UPDATE deliveries SET status = 'dead' WHERE id = ANY (?)`, [[data.id, kept.id]])
  await page.getByRole('link', { name: 'Relay' }).click()
  await page.getByLabel('Type 2 to send 2 alerts again').waitFor()
  await page.getByLabel('Channel', { exact: true }).selectOption('Pager')
  await button(page, 'Filter').click()
  await page.getByText('to this channel. The relay').waitFor()
  await page.getByLabel('Type 1 to send 1 alert again').fill('1')
  await button(page, 'Send again').click()
  await page.getByText('The relay has given up no delivery to this channel.').waitFor()
  t.same([(await status(data.id)) === 'dead', await status(kept.id)], [false, 'dead'], 'those of one channel')
  await page.getByRole('link', { name: 'Show all' }).click()
  await page.getByText('to all channels that are not paused').waitFor()
  await page.getByLabel('Type 1 to send 1 alert again').fill('1')
  await button(page, 'Send again').click()
  await page.getByText('The relay has given up no delivery.').waitFor()
  t.not(await status(kept.id), 'dead')
  t.same(
    complaints.filter(text => !/Failed to load resource.*400/.test(text)),
    [],
    'browsers report the refused request only',
  )
})

t.test('The page of a heartbeat has its ping URL for each tool, and its runs with exit code and log', async t => {
  const job = await create('/monitors', { name: 'Backup', type: 'heartbeat', heartbeat_interval: 86_400 })
  const { page, complaints } = await openAt(t, `/monitors/${job.id}`)
  await page.getByText('The job has not reported yet.').waitFor()
  for (const tool of ['curl', 'cron', 'systemd', 'PowerShell', 'Python', 'Node']) {
    await page.getByLabel(tool, { exact: true }).check()
    t.match((await page.locator('#pings pre').allTextContents()).join('\n'), job.ping_url, tool)
  }
  t.same(await checkAccessibility(page), [])
  const path = new URL(job.ping_url).pathname
  await fetch(`${api.origin}${path}/start`)
  await fetch(`${api.origin}${path}/3`, { method: 'POST', body: 'the disk is full' })
  await page.reload()
  const run = page.locator('#runs li').filter({ hasText: 'exit code 3' })
  await run.getByText('Log').click()
  await run.getByText('the disk is full').waitFor()
  t.match(await run.textContent(), /Failed.*took/)
  t.same(complaints, [])
})

t.test('A viewer sees all of it on a phone, without a form, and which role is needed', async t => {
  const { page, complaints } = await openAt(t, '/incidents/new', viewer, { viewport: { width: 390, height: 844 } })
  for (const [path, text] of [
    ['/incidents/new', 'Opening an incident needs the role editor'],
    ['/incidents/templates', 'Changing templates needs the role editor'],
    ['/settings/alerts', 'Changing the alert settings needs the role editor'],
    ['/log/relay', 'The relay has given up no delivery'],
    ['/settings/alerts/messages', 'Nothing is sent'],
  ] as const) {
    await page.goto(origin + path)
    await page.getByText(text).waitFor()
    t.equal(await page.getByRole('button', { name: /^(Save|Create|Open the|Send)/ }).count(), 0, path)
    t.ok(await page.evaluate('document.documentElement.scrollWidth <= 390'), `${path} is not wider than the phone`)
  }
  t.same(complaints, [])
})
