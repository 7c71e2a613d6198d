import type { Page } from 'playwright-core'
import t from 'tap'
import { email } from '../../control-plane/alerting/channels/kinds/email.ts'
import { buildEnvelope } from '../../control-plane/alerting/events/envelope.ts'
import { buildIncidentEvent } from '../../control-plane/verdict/incidents/incident-event.ts'
import { startApi } from '../support/api-server.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { insertWatchedMonitors } from '../support/board.ts'
import { addSession, readOverflow, runAtOnce, typeScript } from '../support/dashboard-browser.ts'
import { LOADED_SCREENS } from '../support/dashboard-screens.tsx'
import { sendRequest } from '../support/http-client.ts'
import { upload } from '../support/import-jobs.ts'
import { insertOutage } from '../support/outage.ts'
import { createPerson } from '../support/person.ts'
import { insertStatusPage } from '../support/status-pages.ts'
import { insertMonitor } from '../support/verdict.ts'
import { openWatchedPage } from '../support/watched-page.ts'
import { openBrowser } from './open-browser.ts'

const api = await startApi(t, { HOST: 'localhost' })
const origin = api.origin.replace('127.0.0.1', 'localhost')
const { newContext, openTab } = await openBrowser(t)
const person = await createPerson(api, 'owner@example.com')
const { body } = await api.call('GET', '/me', { key: person.key })
const projectId: string = body.data.project.id
const ids = await insertWatchedMonitors(api.db, projectId, 60)
const id = await insertMonitor(api.db, projectId, { name: 'Shop', regions: ['us-east'] })
await api.db.raw(`UPDATE monitors SET status = 'up', status_changed_at = now() - interval '50 min' WHERE id = ?`, [id])
const PATHS = ['/', '/monitors', `/monitors/${id}`]

/** Sends a request of a browser that is signed in. */
const get = (path: string, headers: Record<string, string> = { cookie: person.cookie }) =>
  sendRequest(origin + path, { method: 'GET', headers })

const PHONE = { width: 390, height: 844 }
const DESKTOP = { width: 1280, height: 900 }

/** Keeps the HTML of the server, as parsed, before scripts run. */
const KEEP_SERVED = `document.addEventListener('readystatechange', () => {
  window.served ??= document.getElementById('page')?.innerHTML
})`

/** Waits until the browser has taken over: it reads the board or the monitor again. */
const openTakenOver = async (page: Page, path: string) => {
  const isTakenOver = path.startsWith('/monitors/')
    ? page.locator('.actions button:enabled').first().waitFor()
    : page.waitForResponse(response => response.url().includes('/monitors/board'))
  await Promise.all([page.goto(origin + path), isTakenOver])
  await page.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))')
}

/** HTML without what changes with time, and without the values of fields, which browsers keep apart from it. */
const withoutTimes = (html: string) =>
  html
    .replace(/<time[^>]*>[^<]*<\/time>/g, '<time>')
    .replace(/\b\d+ (s|min|h|d)( \d+ (s|min|h))?\b/g, 'duration')
    .replace(/(<(?:input|option)\b[^>]*?) value="[^"]*"/g, '$1')

const splitAtTags = (html: string) => html.split(/(?=<)/)

/** What only the browser reads: the last 24 hours of the rows that it shows. */
const withoutDays = (html: string) => html.replace(/(<td class="aside of-day">).*?(<\/td>)/g, '$1$2')

/** What only a page without scripts has. */
const withoutFallbacks = (html: string) =>
  html
    .replaceAll(' disabled=""', '')
    .replace(/(list="filter-tags">.*?<\/datalist>)<button type="submit">Filter<\/button>/, '$1')

t.test('The browser takes over the HTML of the server as it is, and renders the same by itself', async t => {
  const context = await newContext({ viewport: DESKTOP, timezoneId: 'UTC' })
  t.teardown(() => context.close())
  await addSession(context, person.token)
  const { page, complaints } = await openWatchedPage(context, origin)
  await page.addInitScript(KEEP_SERVED)
  const readPage = async () =>
    withoutDays(withoutTimes(await page.locator('#page').evaluate(element => element.innerHTML)))
  for (const path of PATHS) {
    await openTakenOver(page, path)
    const served = withoutDays(withoutFallbacks(withoutTimes((await page.evaluate('window.served')) as string)))
    t.ok(served.length > 2_000, path)
    t.same(splitAtTags(await readPage()), splitAtTags(served), `${path}: taken over`)
    // the same page again, this time without the server's HTML
    await page.evaluate('document.querySelector("#page").mark = 1')
    await page.getByRole('link', { name: 'Incidents' }).first().waitFor()
    const [away, back] = path === '/' ? ['Monitors', 'Overview'] : ['Overview', 'Monitors']
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: away }).click()
    await page.waitForURL(url => url.pathname !== path)
    if (path === `/monitors/${id}`) await page.goBack()
    else await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: back }).click()
    await page.waitForURL(url => url.pathname === path)
    await page.locator('#content h1').waitFor()
    t.equal(await page.evaluate('document.querySelector("#page").mark'), 1, `${path}: no load`)
    t.same(splitAtTags(await readPage()), splitAtTags(served), `${path}: rendered by the browser`)
  }
  t.same(complaints, [])
})

t.test('Times are in UTC until the browser shows them in its time zone', async t => {
  const context = await newContext({ viewport: DESKTOP, timezoneId: 'Asia/Tokyo' })
  t.teardown(() => context.close())
  await addSession(context, person.token)
  const { page, complaints } = await openWatchedPage(context, origin)
  await page.addInitScript(KEEP_SERVED)
  await openTakenOver(page, PATHS[2]!)
  const since = /since <time datetime="([^"]+)" title="[^"]* UTC">/.exec(
    (await page.evaluate('window.served')) as string,
  )
  const shown = page.locator('.sentence time')
  t.equal(await shown.getAttribute('datetime'), since![1])
  const inTokyo = { timeZone: 'Asia/Tokyo', hour: '2-digit', minute: '2-digit', second: '2-digit' } as const
  const time = new Intl.DateTimeFormat('en-GB', inTokyo).format(new Date(since![1]!))
  t.match(await shown.textContent(), new RegExp(`, ${time}$`))
  t.equal((await shown.getAttribute('title'))?.includes('UTC'), false)
  t.same(complaints, [])
})

t.test('The filter follows typing, links and the history of the browser', async t => {
  const { context, page, complaints } = await openTab(t, origin, { viewport: DESKTOP })
  await addSession(context, person.token)
  await openTakenOver(page, '/monitors')
  const field = page.getByLabel('Filter')
  const rows = page.locator('tr[data-id]')
  await field.fill('shop -service')
  await page.waitForURL(`${origin}/monitors?q=shop+-service`)
  await rows.nth(1).waitFor({ state: 'detached' })
  t.same(await rows.evaluateAll(found => found.map(row => row.getAttribute('data-id'))), [id])
  await page.getByRole('navigation', { name: 'By status' }).getByRole('link', { name: '1 down' }).click()
  await page.waitForURL(`${origin}/monitors?q=is:down`)
  await page.locator(`tr[data-id="${ids[49]}"]`).waitFor()
  t.equal(await rows.count(), 1)
  t.equal(await field.inputValue(), 'is:down', 'the field shows the filter of the link')
  await page.goBack()
  await page.locator(`tr[data-id="${id}"]`).waitFor()
  t.equal(await field.inputValue(), 'shop -service', 'and that of the page before')
  const isDownShown = `document.querySelector('tr[data-id="${ids[49]}"]')`
  const typed = runAtOnce(page, isDownShown, typeScript('#filter', 'shop'))
  await page.getByRole('navigation', { name: 'By status' }).getByRole('link', { name: '1 down' }).click()
  await typed
  await page.waitForURL(`${origin}/monitors?q=shop`)
  t.equal(await field.inputValue(), 'shop', 'what is typed at once stays')
  t.same(complaints, [])
})

t.test('A person who is signed out signs in and is led to the page', async t => {
  const refused = await get('/monitors?q=is:down', {})
  t.equal(refused.status, 303)
  t.equal(refused.headers.get('location'), '/sign-in?return_to=%2Fmonitors%3Fq%3Dis%3Adown')
  const signIn = async (page: Page) => {
    await page.getByLabel('Email address').fill('owner@example.com')
    await page.getByLabel('Password').fill('correct horse battery')
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  const { page, complaints } = await openTab(t, origin, { viewport: DESKTOP })
  await page.goto(`${origin}/monitors/${id}?range=7d`)
  await signIn(page)
  await page.getByRole('heading', { name: 'Shop' }).waitFor()
  t.equal(page.url(), `${origin}/monitors/${id}?range=7d`)

  // the mail of an alert, as it is sent
  const channel = { name: 'Hook', type: 'webhook', config: { url: 'https://hooks.example.com/x' } }
  const made = await api.call('POST', '/alerts/channels', { key: person.key, body: channel })
  const { incidentId } = await insertOutage(api.db, projectId, made.body.data.id, 'Checkout')
  const { data } = (await api.call('GET', `/incidents/${incidentId}`, { key: person.key })).body
  const incident = { ...data, started_at: new Date(data.started_at) }
  const input = { name: 'incident.created' as const, projectId, incident, update: null, statusPage: null }
  const event = buildIncidentEvent('e1', input, origin, new Date())
  const envelope = buildEnvelope(event, 'whd_1', new Date())
  const mail = email.render(envelope, { to: ['ops@example.com'] }, { publicUrl: origin, reminder: null })
  const { text, html } = JSON.parse(mail.body.toString())
  const link = /https?:\/\/[^\s"/]+\/incidents\/[0-9a-f-]{36}/
  const [address] = link.exec(text)!
  t.equal(link.exec(html)![0], address)
  const path = new URL(address).pathname
  t.equal(path, `/incidents/${incidentId}`)
  // an open page would read without its session
  await page.goto('about:blank')
  await page.context().clearCookies()
  await page.goto(origin + path)
  await signIn(page)
  await page.getByRole('heading', { name: 'Checkout is down' }).waitFor()
  t.equal(page.url(), origin + path)
  t.same(complaints, [])
})

/** One record of another organization for each kind, by the beginning of the paths of its pages. */
async function insertForeignRecords(): Promise<Record<string, string>> {
  const other = await api.tenant()
  const create = async (path: string, body: object) => {
    const answer = await api.call('POST', path, { key: other.key, body })
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body.data.id as string
  }
  const url = 'https://secret.example.com/'
  const channel = await create('/alerts/channels', { name: 'Secret', type: 'webhook', config: { url } })
  const { monitorId, incidentId, deliveryId } = await insertOutage(api.db, other.projectId, channel, 'Secret')
  const times = { starts_at: '2050-01-01T10:00:00Z', ends_at: '2050-01-01T11:00:00Z' }
  return {
    '/monitors': monitorId,
    '/incidents': incidentId,
    '/log': deliveryId,
    '/settings/channels': channel,
    '/settings/import': (await upload(api, other.key, 'from=picket&file_name=secret.json', '{}')).body.data.id,
    '/pages': await create('/status-pages', { name: 'Secret', slug: 'secret', template: 'clean' }),
    '/sources': await create('/data-sources', { name: 'Secret', url }),
    '/dependencies': await create('/dependencies', {
      name: 'Secret',
      status_url: url,
      feed_url: url,
      feed_type: 'rss',
    }),
    '/maintenance': await create('/maintenance-windows', { title: 'Secret', monitor_ids: [monitorId], ...times }),
  }
}

t.test('On every page of a record, a foreign id and an unknown id have the same answer', async t => {
  const records = await insertForeignRecords()
  const paths = LOADED_SCREENS.filter(({ record }) => record).map(({ path }) => path)
  t.ok(paths.length >= 14, `${paths.length} pages`)
  for (const path of paths) {
    const foreign = records[path.slice(0, path.indexOf('/:id'))]!
    t.ok(foreign, `${path}: a foreign record`)
    const pages = []
    for (const one of [foreign, foreign.replace(/[0-9a-f]{8}$/, '00000000'), 'nope']) {
      const { status, text } = await get(path.replace(':id', one))
      t.equal(status, 404, `${path} ${one}`)
      t.match(text, '<title>Page not found · Picket</title>')
      t.notMatch(text, 'Secret')
      pages.push(text.slice(0, text.indexOf('<script type="application/json"')).replaceAll(one, 'id'))
    }
    t.same(pages, Array(3).fill(pages[0]), path)
  }
})

t.test('An API key and the host of a customer have no dashboard', async t => {
  const pageId = await insertStatusPage(api.db, projectId, 'acme')
  const verified = `UPDATE status_pages SET custom_domain = 'status.acme.com', custom_domain_verified_at = now() WHERE id = ?`
  await api.db.raw(verified, [pageId])
  for (const path of [...PATHS, '/monitors/nope']) {
    const keyed = await get(path, { authorization: `Bearer ${person.key}` })
    t.equal(keyed.status, 401, path)
    t.match(keyed.headers.get('content-type'), 'application/json')
    t.match(JSON.parse(keyed.text), { error: { message: /\/api\/v1/ } })
    for (const [host, expected] of [
      ['status.acme.com', path === '/' ? 200 : 421],
      ['other.acme.com', path === '/' ? 404 : 421],
    ] as const) {
      const custom = await get(path, { cookie: person.cookie, host })
      t.equal(custom.status, expected, `${host}${path}`)
      t.notMatch(custom.text, /page-state|id="page"|owner@example/, `${host}${path}`)
    }
  }
})

t.test('Pages have the policy of the design and are not stored; their files are stored for ever', async t => {
  for (const path of PATHS) {
    const { status, headers, text } = await get(path)
    t.equal(status, 200)
    t.equal(
      headers.get('content-security-policy'),
      "default-src 'none'; base-uri 'none'; connect-src 'self'; font-src 'self'; form-action 'self'; frame-ancestors 'none'; " +
        "frame-src 'self'; img-src 'self' data:; script-src 'self'; style-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'",
    )
    t.match(headers.get('cache-control'), 'no-store')
    t.equal(headers.get('x-content-type-options'), 'nosniff')
    const files = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, file]) => file!)
    t.ok(files.some(file => file.endsWith('.js')) && files.some(file => file.endsWith('.css')), path)
    for (const file of path === '/' ? files : []) {
      const answer = await fetch(origin + file, { headers: { 'accept-encoding': 'gzip' } })
      t.equal(answer.status, 200, file)
      t.match(answer.headers.get('cache-control'), /public, max-age=31536000, immutable/)
      const { byteLength } = await answer.arrayBuffer()
      // the first script only starts the shared one, and is too short to be compressed
      const isFirst = file.startsWith('/assets/main-')
      const encoding = file.endsWith('.woff2') || isFirst ? null : 'gzip'
      t.equal(answer.headers.get('content-encoding'), encoding, file)
      t.ok(byteLength > (isFirst ? 100 : 1_000), `${file}: ${byteLength}`)
    }
  }
  for (const file of ['main-AAAAAAAA.js', 'constructor', '__proto__', '..%2f..%2fpackage.json', ''])
    t.equal((await get(`/assets/${file}`)).status, 404, file)
})

t.test('The screens are accessible on phones, in dark, and fit them', async t => {
  // colours that change slowly would be measured on their way
  // test/long/dashboard-accessibility.test.ts has the other sizes and schemes
  const look = { viewport: PHONE, colorScheme: 'dark', reducedMotion: 'reduce' } as const
  const { context, page, complaints } = await openTab(t, origin, look)
  await addSession(context, person.token)
  for (const path of PATHS) {
    await openTakenOver(page, path)
    t.equal(await readOverflow(page), 0, `${path}: no horizontal scrolling`)
    t.same(await findAccessibilityProblems(page), [], `${path}: axe finds nothing`)
  }
  t.same(complaints, [])
})
