import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createApi } from '../../support/api.ts'
import { buildKumaDatabase, KUMA_TABLES } from '../../support/kuma-database.ts'
import { makeOperator } from '../../support/operator.ts'
import { PERSON_PASSWORD } from '../../support/person.ts'
import type { Tenant } from '../../support/tenant.ts'
import { waitFor } from '../../support/wait.ts'
import { type Flows, findAccessibilityProblems, OWNER } from '../scene.ts'

const ID = '[0-9a-f-]{36}'
/** The text of the preview of a status page, and of the page itself. */
const preview = `document.querySelector('iframe[title="Preview of the page"]').contentDocument`
const DOCUMENT = { services: { web: { status: 'ok' }, api: { status: 'slow' }, mail: { status: 'failing' } } }

export const SETUP_FLOWS: Flows = {
  async 'a status page is filled, ordered by keys and published, and its preview equals the page'(t, scene) {
    const { tab, open, call, origin, picket } = scene
    // without checks, whose results come between the preview and the page
    const job = { name: 'Website', type: 'heartbeat', heartbeat_interval: 86_400 }
    const { id: monitorId } = await call('post', '/monitors', job)
    await open('/pages/new')
    await tab.fill('Name', 'Acme Cloud')
    await tab.click('button', 'Create the page')
    const id = (await tab.waitForPath(new RegExp(`^/pages/${ID}$`))).split('/').at(-1)!
    await tab.click('button', 'Add Website')
    await tab.waitForElement('button', 'Edit Website')
    await tab.fill('Component without a monitor', 'Mail <b>')
    await tab.click('button', 'Add the component')
    await tab.waitForElement('button', 'Edit Mail <b>')
    await tab.focus('button', 'Move Mail <b> up')
    await tab.press('Enter')
    await tab.waitForElement('[role=status]', 'Mail <b> is now 1 of 2.')
    await tab.waitUntil(`/Mail <b>/.test(${preview}.body.innerText)`)
    await tab.choose('Template', 'clean')
    await tab.waitUntil(`${preview}.querySelector('.page.clean')`)
    t.same(await findAccessibilityProblems(tab), [], 'the editor')
    await tab.click('button', 'Save the changes')
    await tab.waitForText(/Saved\./)
    await tab.click('button', 'Publish')
    await tab.waitForText(/Every visitor of/)
    // without the minutes at which it was made, and what the script of the page adds
    const varying = '/<time [^>]*>[^<]*<.time>|<div class="tip"[^>]*><.div>/g'
    const buildHtmlExpression = (root: string) => `${root}.querySelector('.page').outerHTML.replace(${varying}, '')`
    await waitFor(async () => (await fetch(`${picket.origin}/status/acme-cloud`)).status === 200, {
      label: 'published',
    })
    const shown = await tab.read(buildHtmlExpression(preview))
    await tab.open(`${origin}/status/acme-cloud`)
    t.equal(await tab.read(buildHtmlExpression('document')), shown, 'the preview equals the page')
    await open(`/pages/${id}`)
    await tab.click('summary', 'Custom CSS')
    await tab.fill('Custom CSS', '@import "x";')
    await tab.waitForText(/must not use @import/)
    await tab.click('button', 'Discard them')
    await call('delete', `/status-pages/${id}`)
    await call('delete', `/monitors/${monitorId}`)
  },

  async 'maintenance is planned and is in the calendar'(t, { tab, open, call }) {
    await open('/maintenance/new')
    await tab.fill('Title', 'Database upgrade')
    const [{ name }] = await call('get', '/monitors')
    await tab.fill('Find monitors', name)
    await tab.click('button', 'Add 1')
    await tab.clickField('Recurring')
    await tab.choose('How often', 'daily')
    await tab.fill('Lasts', '1')
    t.same(await findAccessibilityProblems(tab), [], 'the form')
    await tab.click('button', 'Create the window')
    const path = await tab.waitForPath(new RegExp(`^/maintenance/${ID}$`))
    await tab.waitForText(/Delete the window/)
    await open('/maintenance')
    await tab.click('a', 'Next')
    await tab.waitForPath(/month=20\d\d-\d\d/)
    await tab.waitForText(/Database upgrade/)
    t.ok((await tab.read<number>(`document.querySelectorAll('.calendar a[href="${path}"]').length`)) >= 28)
    await call('delete', path.replace('/maintenance/', '/maintenance-windows/'))
  },

  async 'a click on a value of a document makes a rule, and its monitors appear at once'(t, scene) {
    const { tab, open, call, target } = scene
    target.behaveAt('/document', { kind: 'answer', body: JSON.stringify(DOCUMENT) })
    await open('/sources/new')
    await tab.fill('Address of the document', `${target.url}document`)
    await tab.click('button', 'Fetch the document')
    await tab.click('[role=treeitem]', 'status "failing"')
    await tab.waitForText(/3 monitors: 1 down, 1 degraded, 1 up\./)
    t.same(await findAccessibilityProblems(tab), [], 'the proposal')
    await tab.click('button', 'Create the data source')
    const id = (await tab.waitForPath(new RegExp(`^/sources/${ID}$`))).split('/').at(-1)
    const isThere = async () => (await call('get', `/data-sources/${id}`)).child_monitor_count === 3
    await waitFor(isThere, { label: 'three monitors' })
    await call('delete', `/data-sources/${id}`)
  },

  async 'a dependency is found in the catalog and tracked'(t, { tab, open, call }) {
    await open('/dependencies')
    await tab.click('a', 'Add a dependency')
    await tab.click('input[type=search]')
    await tab.type('github')
    await tab.press('Enter')
    await tab.waitForPath(/q=github/)
    t.same(await findAccessibilityProblems(tab), [], 'the catalog')
    await tab.click('button', 'Track GitHub')
    const path = await tab.waitForPath(new RegExp(`^/dependencies/${ID}$`))
    t.match(await call('get', path), { name: 'GitHub' })
    await call('delete', path)
  },

  async 'digests are set, and messages are shown as they will look'(t, { tab, open, call }) {
    await open('/settings/alerts')
    await tab.fill('Monitors that may change in a minute', '0')
    await tab.click('button', 'Save the changes')
    await tab.waitForText(/digest_threshold must be/)
    await tab.fill('Monitors that may change in a minute', '25')
    await tab.click('button', 'Save the changes')
    await tab.waitForText(/Saved\./)
    t.equal((await call('get', '/alerts/settings')).digest_threshold, 25)
    await tab.click('main a', 'Messages')
    await tab.waitForPath('/settings/alerts/messages')
    await tab.waitForText(/Shop is down/)
    t.same(await findAccessibilityProblems(tab), [], 'the messages')
  },

  async 'an incident is opened by hand with a template, updated and has a proposed post-mortem'(t, scene) {
    const { tab, open, call } = scene
    const template = { name: 'Provider outage', title: 'Our provider has an outage', message: 'They look into it.' }
    await call('post', '/incident-templates', template)
    await open('/incidents/new')
    await tab.choose('Template', 'Provider outage')
    await tab.waitUntil(`document.querySelector('[name=title]').value === 'Our provider has an outage'`)
    t.same(await findAccessibilityProblems(tab), [], 'the form')
    await tab.click('button', 'Open the incident')
    const path = await tab.waitForPath(new RegExp(`^/incidents/${ID}$`))
    await tab.waitForElement('button', 'Add the update')
    await tab.fill('Message', 'They have repaired it.')
    await tab.choose('Status of the incident', 'resolved')
    await tab.click('button', 'Add the update')
    await tab.waitForText(/, resolved, lasted/)
    await tab.waitUntil(`document.querySelector('#message').value === ''`)
    await tab.click('a', 'Write one')
    await tab.click('button', 'Propose a text with the timeline')
    await tab.waitUntil(`/They have repaired it/.test(document.querySelector('textarea').value)`)
    await tab.click('button', 'Save')
    await tab.waitForText(/Saved/)
    t.match((await call('get', path)).postmortem, /Our provider has an outage/)
  },

  async 'a heartbeat has its ping URL for each tool, and its runs with exit code and log'(t, scene) {
    const { tab, open, call, picket } = scene
    const job = await call('post', '/monitors', { name: 'Backup', type: 'heartbeat', heartbeat_interval: 86_400 })
    await open(`/monitors/${job.id}`)
    for (const tool of ['curl', 'cron', 'systemd', 'PowerShell', 'Python', 'Node']) {
      await tab.clickField(tool)
      await tab.waitUntil(`document.querySelector('#pings pre').textContent.includes(${JSON.stringify(job.ping_url)})`)
    }
    t.same(await findAccessibilityProblems(tab), [], 'the pings')
    const ping = picket.origin + new URL(job.ping_url).pathname
    await fetch(`${ping}/3`, { method: 'POST', body: 'the disk is full' })
    await tab.waitForText(/exit code 3/)
    await tab.click('#runs li summary', 'Log')
    await tab.waitForText(/the disk is full/)
    await call('delete', `/monitors/${job.id}`)
  },

  async 'an API key is shown once and works until it is deleted'(t, { tab, open, picket }) {
    await open('/settings/keys')
    await tab.fill('Name', 'Nightly job')
    await tab.click('button', 'Create the key')
    await tab.waitUntil(`document.querySelector('.secret code')`)
    const key = await tab.readText('.secret code')
    const ask = async () => (await createApi(picket.origin, key).get('/monitors')).status
    t.equal(await ask(), 200)
    await tab.click('button', 'I have copied it')
    await open('/settings/keys')
    await tab.waitForText(/Nightly job/)
    t.notOk(await tab.read(`document.documentElement.outerHTML.includes(${JSON.stringify(key)})`), 'it is shown once')
    t.same(await findAccessibilityProblems(tab), [], 'the keys')
    await tab.click('button', 'Delete… Nightly job')
    await tab.fill('Type Nightly job to delete the API key', 'Nightly job')
    await tab.click('button', 'Delete the API key')
    await tab.waitForNoText(/Nightly job/)
    // keys are kept for 5 s after they were read
    await waitFor(async () => (await ask()) === 401, { label: 'the deleted key is refused' })
    await open('/settings/audit')
    await tab.waitForText(/deleted the API key Nightly job/)
  },

  async 'a person is invited by a link, sees everything as a viewer and can change nothing'(t, scene) {
    const { tab, open, origin, signIn } = scene
    await open('/settings/members')
    await tab.fill('Email address', 'vera@example.com')
    await tab.choose('Role', 'viewer')
    await tab.click('button', 'Invite')
    await tab.waitUntil(`document.querySelector('.secret code')`)
    const link = new URL(await tab.readText('.secret code')).pathname
    await tab.click('button', 'I have copied it')
    await tab.waitUntil(`!document.querySelector('.secret')`)
    await tab.open(origin + link)
    await tab.fill('Password', PERSON_PASSWORD)
    await tab.click('main button')
    await tab.waitForPath('/')
    for (const path of ['members', 'keys', 'audit', 'wall']) {
      await open(`/settings/${path}`)
      await tab.waitForText(/needs the role (admin|editor)\. Your role is viewer\./)
      t.equal(await tab.read(`document.querySelectorAll('main button').length`), 0, path)
    }
    await signIn(OWNER, '/')
  },

  async 'a wallboard needs no session, and ends when its link is revoked'(t, { tab, open, origin, signIn }) {
    await open('/settings/wall')
    await tab.fill('Name', 'Office')
    await tab.click('button', 'Create the link')
    await tab.waitUntil(`document.querySelector('.secret code')`)
    const path = new URL(await tab.readText('.secret code')).pathname
    await tab.click('button', 'I have copied it')
    await tab.read(`fetch('/sign-out', { method: 'POST' }).then(answer => answer.status)`)
    await tab.open(origin + path)
    await tab.waitForText(/\d\d:\d\d:\d\d/)
    t.same(await findAccessibilityProblems(tab), [], 'the wall')
    await signIn(OWNER, '/settings/wall')
    await tab.click('button', 'Revoke… Office')
    await tab.fill('Type Office to revoke the link', 'Office')
    await tab.click('button', 'Revoke the link')
    await tab.waitForText(/There is no link to a wallboard yet\./)
    await tab.open(origin + path)
    await tab.waitForText(/Page not found/)
  },

  async 'the operator creates a command for a new probe, and sees on the open page that it has connected'(t, scene) {
    const { tab, open, picket, db, call } = scene
    const { project, organization } = await call('get', '/me')
    await makeOperator(db, { projectId: project.id, organizationId: organization.id } as Tenant)
    await open('/fleet')
    await tab.click('button', 'Create the command')
    await tab.waitForText(/prb_\w{36}/)
    const [token = ''] = /prb_\w{36}/.exec(await tab.readText('main')) ?? []
    t.same(await findAccessibilityProblems(tab), [], 'the fleet')
    await picket.addProbe('us-east', { PROBE_TOKEN: token, PROBE_NAME: 'iad-7' })
    await tab.waitForText(/Connected: iad-7/)
  },

  async 'a database of Uptime Kuma is imported after its plan was shown'(t, { tab, open, call }) {
    const folder = t.testdir({ 'notes.db': 'dear diary' })
    writeFileSync(join(folder, 'kuma.db'), buildKumaDatabase(2, KUMA_TABLES))
    await open('/settings/import')
    await tab.upload('input[type=file]', join(folder, 'notes.db'))
    await tab.waitForText(/not that of a known format/)
    await tab.upload('input[type=file]', join(folder, 'kuma.db'))
    await tab.click('button', 'Upload and make a plan')
    await tab.waitForText(/Planned, nothing is changed yet/)
    await tab.waitForText(/monitors of type rabbitmq are not supported/)
    t.same(await findAccessibilityProblems(tab), [], 'the plan')
    await tab.click('button', 'Apply 5 changes')
    await tab.click('a', 'Open the monitors')
    await tab.waitForText(/Shop/)
    t.ok((await call('get', '/monitors')).some(({ name }: { name: string }) => name === 'Shop'))
  },

  async 'a page shows the API calls behind it'(t, { tab, open, call }) {
    const [{ id }] = await call('get', '/monitors')
    await open(`/monitors/${id}`)
    await tab.click('button', 'API calls of this page')
    for (const [kind, text] of [
      ['curl', 'curl'],
      ['TypeScript', 'await picket'],
      ['project.yaml', 'monitors:'],
    ] as const) {
      await tab.clickField(kind)
      await tab.waitUntil(`document.querySelector('.call-texts pre').textContent.includes(${JSON.stringify(text)})`)
    }
    t.same(await findAccessibilityProblems(tab), [], 'the calls')
    await tab.press('Escape')
  },
}
