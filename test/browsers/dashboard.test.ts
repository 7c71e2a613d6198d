// takes about 60 s
import t, { type Test } from 'tap'
import { connectNats, ensureStreams } from '../../control-plane/foundation/platform/nats/client.ts'
import { FailureSource, Outcome } from '../../shared/checks/result.ts'
import { reserveFreePort } from '../../tools/engines/free-port.ts'
import { startApi } from '../support/api-server.ts'
import { AXE } from '../support/axe.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'
import { createPerson, PERSON_PASSWORD } from '../support/person.ts'
import {
  insertLiveProbes,
  insertMonitor,
  publish,
  resultOf,
  startVerdictProcess,
  statusesOf,
} from '../support/verdict.ts'
import { waitFor } from '../support/wait.ts'
import type { Driver } from './driver.ts'
import { startFirefox } from './firefox.ts'
import { createTab, type Tab } from './tab.ts'
import { startTlsProxy } from './tls-proxy.ts'
import { startWebkit } from './webkit.ts'

const ENGINES = { Firefox: startFirefox, WebKit: startWebkit }
const REGIONS = ['us-east', 'eu-west', 'ap-southeast']
const server = await startNats(t)
const port = await reserveFreePort()
const origin = `https://localhost:${port}`
const api = await startApi(t, {
  ...{ DATABASE_URL: (await createDatabase(t)).url, NATS_URL: server.url, PUBLIC_URL: origin },
})
await startTlsProxy(t, port, api.origin)
const nats = await connectNats(server.url, 'test')
await ensureStreams(nats.manager)
t.teardown(() => nats.close())
await insertLiveProbes(api.db)
await startVerdictProcess(t, api.databaseUrl, server.url)

const REFUSED = {
  ...{ up: false, outcome: Outcome.DOWN, statusCode: 0 },
  error: { source: FailureSource.TARGET, code: 'ECONNREFUSED', message: 'connection refused' },
}

/** Publishes two checks of each region, which are enough for a vote, and waits for the statuses that follow. */
async function reach(id: string, statuses: string, failure: object | null): Promise<void> {
  for (const region of REGIONS)
    for (let i = 0; i < 2; i++) await publish(nats, [resultOf(id, { up: true, ...failure })], region, `probe-${region}`)
  await waitFor(async () => (await statusesOf(api.db, id)) === statuses, { label: statuses })
}

/** A person whose project has a monitor that is up, and one that is down. */
async function createScene(email: string) {
  const person = await createPerson(api, email)
  const me = await api.call('GET', '/me', { key: person.key })
  const insert = (name: string) =>
    insertMonitor(api.db, me.body.data.project.id, { name, regions: REGIONS, retryCount: 1 })
  const [shop, search] = [await insert('Shop'), await insert('Search')]
  await reach(shop, 'up', null)
  await reach(search, 'up', null)
  await reach(search, 'up down', REFUSED)
  return { ...person, shop, search }
}

async function signIn(tab: Tab, email: string, path: string): Promise<void> {
  await tab.open(`${origin}/sign-in?${new URLSearchParams({ return_to: path })}`)
  await tab.fill('Email address', email)
  await tab.fill('Password', PERSON_PASSWORD)
  await tab.click('button', 'Sign in')
  await tab.waitForPath(path)
}

const isTakenOver = `document.querySelector('button.search:enabled') !== null`
const waitForScripts = (tab: Tab) => waitFor(() => tab.read<boolean>(isTakenOver), { label: 'the scripts of the page' })
const readTitle = (tab: Tab) => tab.read<string>('document.title')
const readRows = (tab: Tab) =>
  tab.read<string[]>(`[...document.querySelectorAll('tr[data-id] a')].map(link => link.textContent.trim())`)

/** What Firefox reports of a page that is left while it loads: its event stream, or a font (NS_BINDING_ABORTED). */
const LEFT =
  /\/events was interrupted while|establish a connection to the server at \S+\/events\.|font: download failed .* status=2152398850 /

/** Nothing was reported, up to a last message that shows that the console is read. */
async function expectNoMessages(t: Test, { messages }: Driver, tab: Tab): Promise<void> {
  await tab.expectNoFaults()
  if (!messages) return
  await tab.read(`console.warn('the last message')`)
  await waitFor(() => messages.some(text => text.includes('the last message')), { label: 'the message' })
  t.match(
    messages.filter(text => !LEFT.test(text)),
    [/the last message/],
    'the console has nothing else',
  )
}

type Finding = { id: string; nodes: { html: string }[] }
async function findAccessibilityProblems(tab: Tab): Promise<string[]> {
  await tab.read(`(() => { ${AXE} })()`)
  const found = await tab.read<{ violations: Finding[] }>('axe.run(document, { resultTypes: ["violations"] })')
  return found.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}

for (const [name, start] of Object.entries(ENGINES)) {
  const { email, key, shop, search } = await createScene(`${name.toLowerCase()}@example.com`)

  t.test(`${name}: trouble is shown, filtered, updated and acknowledged, and a form saves`, async t => {
    const driver = await start(t)('light')
    const tab = createTab(driver)
    await signIn(tab, email, '/')
    t.equal(await readTitle(tab), '1 down, 1 up · Picket', 'the overview shows trouble')
    await tab.waitForText(/Search.*connection refused/)
    t.same(await findAccessibilityProblems(tab), [], 'the overview')

    await tab.open(`${origin}/monitors`)
    await waitForScripts(tab)
    t.same(await readRows(tab), ['Search', 'Shop'], 'trouble is first')
    await tab.fill('Filter', 'shop -is:down')
    await waitFor(async () => (await readRows(tab)).join() === 'Shop', { label: 'the filtered rows' })
    await tab.waitForPath('/monitors?q=shop+-is:down')
    t.same(await findAccessibilityProblems(tab), [], 'the list')

    await tab.open(`${origin}/`)
    await waitForScripts(tab)
    await tab.read('window.mark = 1')
    await reach(shop, 'up down', REFUSED)
    await waitFor(async () => (await readTitle(tab)) === '2 down · Picket', { label: 'the title' })
    await tab.click('main summary', 'Same host')
    await tab.waitForText(/2 down.*Shop.*connection refused/)
    t.equal(await tab.read('window.mark'), 1, 'the page was not loaded again')

    await tab.click('main a', 'Shop is down')
    await tab.click('button', 'Acknowledge')
    await tab.waitForText(/Acknowledged by you/)
    const incidents = await api.call('GET', `/incidents?monitor_id=${shop}`, { key })
    t.match(incidents.body.data, [{ title: 'Shop is down', acknowledged_at: /^20/ }])
    t.same(await findAccessibilityProblems(tab), [], 'the incident')

    await tab.open(`${origin}/monitors/${search}/settings`)
    await waitForScripts(tab)
    await tab.fill('Name', 'Search, renamed')
    await tab.click('button', 'Save the changes')
    await tab.waitForText(/Saved\./)
    t.equal((await api.call('GET', `/monitors/${search}`, { key })).body.data.name, 'Search, renamed')
    t.same(await findAccessibilityProblems(tab), [], 'the form')
    await expectNoMessages(t, driver, tab)
  })

  t.test(`${name}: pages are dark when the system is`, async t => {
    const driver = await start(t)('dark')
    const tab = createTab(driver)
    await signIn(tab, email, '/')
    for (const path of ['/', '/monitors', `/monitors/${shop}`, '/incidents']) {
      await tab.open(origin + path)
      await waitForScripts(tab)
      t.equal(await tab.read('getComputedStyle(document.documentElement).backgroundColor'), 'rgb(16, 18, 20)', path)
      t.same(await findAccessibilityProblems(tab), [], path)
    }
    await expectNoMessages(t, driver, tab)
  })
}
