import type { Locator, Page } from 'playwright-core'
import t from 'tap'
import { startApi } from '../support/api-server.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { addSession, readOverflow, runAtOnce, typeScript } from '../support/dashboard-browser.ts'
import { createPerson } from '../support/person.ts'
import { insertComponents } from '../support/status-pages.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import { openBrowser } from './open-browser.ts'

const api = await startApi(t, { HOST: 'localhost' })
const origin = api.origin.replace('127.0.0.1', 'localhost')
const { newContext, openTab } = await openBrowser(t)
const owner = await createPerson(api, 'ann@example.com')
const call = (method: string, path: string, body?: unknown) => api.call(method, path, { key: owner.key, body })
const create = async (path: string, body: object) => (await call('POST', path, body)).body.data.id as string

async function openAt(t: Teardown, path: string, { token = owner.token, ...options }: Record<string, unknown> = {}) {
  const watched = await openTab(t, origin, { reducedMotion: 'reduce', ...options })
  await addSession(watched.context, token as string)
  await watched.page.goto(origin + path)
  return watched
}

const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const preview = (page: Page) => page.frameLocator('iframe[title="Preview of the page"]')
/** The order of a page, as the server has it. */
const readOrder = async (id: string) => {
  const lists = await Promise.all(['components', 'groups'].map(kind => call('GET', `/status-pages/${id}/${kind}`)))
  const items = lists.flatMap(({ body }) => body.data as { name: string; display_order: number; group_id?: string }[])
  return items
    .filter(({ group_id }) => !group_id)
    .sort((a, b) => a.display_order - b.display_order)
    .map(({ name }) => name)
}

/** Waits until an image has its pixels. */
const isLoaded = (image: Locator, label: string) =>
  waitFor(() => image.evaluate(element => (element as unknown as { naturalWidth: number }).naturalWidth > 0), { label })

/** The HTML of an element without the minutes at which it was made. */
const readHtml = async (element: Locator) =>
  (await element.evaluate(node => node.outerHTML)).replace(/<time [^>]*>[^<]*<.time>/g, '')

t.test(
  'A page is created, filled, ordered by keys and published, and its preview equals what visitors get',
  async t => {
    await create('/monitors', { name: 'Website', type: 'http', url: 'https://www.example.com' })
    const { page, complaints } = await openAt(t, '/pages')
    await page.getByRole('link', { name: 'New status page' }).click()
    await field(page, 'Name').fill('Acmé Cloud')
    t.equal(await field(page, 'Address').inputValue(), 'acme-cloud')
    await page.getByText('Visitors open /status/acme-cloud on this installation.').waitFor()
    await field(page, 'Address').fill('https://status.acme.com')
    await page.getByText('Letters a to z, digits and -. Visitors open /status/… on').waitFor()
    await field(page, 'Address').fill('acme-cloud')
    await button(page, 'Create the page').click()
    await page.waitForURL(/\/pages\/[0-9a-f-]{36}$/)
    const id = page.url().split('/').at(-1)!
    await preview(page).getByText('No components have been added').or(preview(page).locator('.empty')).first().waitFor()

    await page.getByRole('button', { name: 'Add Website' }).click()
    await page.getByRole('button', { name: 'Edit Website' }).waitFor()
    await field(page, 'Component without a monitor').fill('Mail <b>')
    await button(page, 'Add the component').click()
    await page.getByRole('button', { name: 'Edit Mail <b>' }).waitFor()
    await field(page, 'Group').fill('Core')
    await field(page, 'Group').press('Enter')
    await page.getByRole('button', { name: 'Edit Core' }).waitFor()
    await page.getByRole('button', { name: 'Move Core up' }).press('Enter')
    await page.getByText('Core is now 2 of 3.').waitFor()
    t.equal(await page.evaluate('document.activeElement.textContent'), '↑Move Core up', 'the focus stays at the button')
    t.same(await readOrder(id), ['Website', 'Core', 'Mail <b>'])
    await page.getByRole('button', { name: 'Edit Website' }).click()
    const component = page.getByRole('region', { name: 'Components' })
    await component.getByText('Name', { exact: true }).click()
    t.equal(await page.evaluate('document.activeElement.value'), 'Website', 'the label belongs to the component')
    t.same(await findAccessibilityProblems(page), [], 'a component that is edited')
    await component.locator('select').selectOption({ label: 'Core' })
    await button(page, 'Save the component').click()
    await preview(page).locator('.group .component', { hasText: 'Website' }).waitFor()

    await field(page, 'Template').selectOption('clean')
    await field(page, 'Name').fill('Acmé Cloud 2')
    t.equal(await preview(page).locator('.page.clean .masthead').textContent(), 'Acmé Cloud 2', 'at the keystroke')
    await button(page, 'Save the changes').click()
    await page.getByText('Saved.', { exact: true }).waitFor()
    await button(page, 'Publish').click()
    await page.getByText('Every visitor of').waitFor()

    const visitor = await newContext({ javaScriptEnabled: false })
    t.teardown(() => visitor.close())
    const published = await visitor.newPage()
    const address = `${origin}/status/acme-cloud`
    const hasTemplate = (template: string, html: string) => html.includes(`class="page ${template}"`)
    for (const template of ['minimal', 'brand', 'terminal', 'modern', 'clean', 'developer']) {
      await field(page, 'Template').selectOption(template)
      // by the form, which would follow a record that another person has changed
      await button(page, 'Save the changes').click()
      await page.getByText('Saved. Visitors see it now.').waitFor()
      await waitFor(
        async () => {
          // a page is loaded only when it has the template; it may still come from the browser's cache
          if (!hasTemplate(template, await (await fetch(address)).text())) return false
          await published.goto(address)
          return hasTemplate(template, await published.content())
        },
        { label: `${template} is published` },
      )
      t.equal(
        await readHtml(preview(page).locator('.page')),
        await readHtml(published.locator('.page')),
        `${template}: the preview equals the page`,
      )
    }
    await page.goto(`${origin}/pages`)
    await page.getByRole('link', { name: 'Acmé Cloud 2', exact: true }).waitFor()
    t.same(await findAccessibilityProblems(page), [], 'the list')
    t.same(complaints, [])
  },
)

t.test(
  'Refused CSS is shown at its line 300 ms after the last key, and the preview keeps what was accepted',
  async t => {
    const { page, complaints, id } = await openPage(t)
    await page.getByText('Custom CSS').first().click()
    const css = page.getByLabel('Custom CSS')
    const nameColor = () =>
      preview(page)
        .locator('.masthead span')
        .evaluate(node => getComputedStyle(node).color)
    await css.fill('.masthead span { color: rgb(1, 2, 3) }')
    await waitFor(async () => (await nameColor()) === 'rgb(1, 2, 3)', { label: 'the CSS applies' })
    await css.fill('.masthead span { color: rgb(9, 9, 9) }\n\n@import "x";')
    await page.locator('.code-lines .refused', { hasText: 'must not use @import' }).waitFor()
    t.equal(await page.locator('.code-lines > div').nth(2).getAttribute('class'), 'refused')
    t.equal(await css.getAttribute('aria-invalid'), 'true')
    t.equal(await nameColor(), 'rgb(1, 2, 3)', 'the accepted CSS stays')
    await button(page, 'Line 3').click()
    t.equal(await css.evaluate(node => (node as unknown as { selectionStart: number }).selectionStart), 40)
    await button(page, 'Save the changes').click()
    await page.getByText('Some fields are not accepted.').waitFor()
    t.equal((await call('GET', `/status-pages/${id}`)).body.data.custom_css, null, 'nothing is stored')
    await button(page, 'Phone').press('Enter')
    await field(page, 'Name').fill('Acme on phones')
    await preview(page).getByText('Acme on phones').first().waitFor()
    t.equal(await button(page, 'Phone').getAttribute('aria-pressed'), 'true', 'the width stays while a person types')
    t.equal(await preview(page).locator('body').evaluate('innerWidth'), 390, 'the page has the width of a phone')
    await button(page, 'Dark').click()
    await button(page, 'Staged outage').click()
    await preview(page).getByText('Mail is down').first().waitFor()
    t.equal(
      await preview(page)
        .locator('body')
        .evaluate(() => getComputedStyle(document.documentElement).colorScheme),
      'dark',
    )
    t.same(
      complaints.filter(text => !/Failed to load resource.*400/.test(text)),
      [],
      'browsers report the refused request only',
    )
  },
)

t.test('Components are dragged into a group, and a file that is not an image is refused as a logo', async t => {
  const { page, id } = await openPage(t)
  const row = (name: string) => page.locator('.page-item', { hasText: name }).first()
  await row('Mail').dragTo(row('Core'))
  await page.getByText('Mail is now 1 of 1 in Core.').waitFor()
  t.same(await readOrder(id), ['Search', 'Core'])
  await row('Core').dragTo(row('Search'), { targetPosition: { x: 5, y: 2 } })
  await page.getByText('Core is now 1 of 2.').waitFor()
  t.same(await readOrder(id), ['Core', 'Search'])
  await page.getByRole('button', { name: 'Edit Search' }).click()
  await button(page, 'Delete the component').click()
  await button(page, 'Delete it').click()
  await page.getByRole('button', { name: 'Edit Search' }).waitFor({ state: 'detached' })

  await page.getByText('Logo and favicon').click()
  const file = (name: string, mimeType: string, text: string) => ({ name, mimeType, buffer: Buffer.from(text) })
  await page
    .getByLabel('Upload a logo')
    .and(page.locator(':enabled'))
    .setInputFiles(file('logo.png', 'image/png', 'a text'))
  await page.getByText(/^the logo /).waitFor()
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>'
  await page
    .getByLabel('Upload a logo')
    .and(page.locator(':enabled'))
    .setInputFiles(file('logo.svg', 'image/svg+xml', svg))
  await page.getByText('logo.svg is saved').waitFor()
  t.match((await call('GET', `/status-pages/${id}`)).body.data.logo_url, /\/status\/.*\/logo\?v=/)
  await isLoaded(preview(page).locator('.masthead img'), 'the logo of the page that is not published')
  const defaultIcon = await page.getByRole('img', { name: 'Favicon' }).getAttribute('src')
  t.match(defaultIcon, /^data:image/)
  await page
    .getByLabel('Upload a favicon')
    .and(page.locator(':enabled'))
    .setInputFiles(file('icon.svg', 'image/svg+xml', svg))
  await page.locator('.preview-tab img[src*="/favicon?v="]').waitFor()
  await isLoaded(page.getByRole('img', { name: 'Favicon' }), 'its favicon')
  for (const path of ['logo', 'favicon']) {
    for (const address of [`/status/acme-${slugs}/${path}`, `/session/api/v1/status-pages/${id}/${path}`])
      t.ok([401, 404].includes((await fetch(api.origin + address)).status), `${address} is hidden from strangers`)
  }
  await page.getByRole('alert').filter({ hasText: 'Another person' }).waitFor({ state: 'detached' })
})

t.test('All components of a long page are ordered, by keys and by dragging', async t => {
  const { page, complaints, id } = await openPage(t)
  await insertComponents(api.db, id, 240)
  await page.reload()
  const move = (name: string, way: string) => button(page, `Move ${name} ${way}`)
  const hasFocus = (text: string) =>
    waitFor(async () => (await page.evaluate('document.activeElement.textContent')) === text, {
      label: `the focus is at ${text}`,
    })
  await move('Component 230', 'up').press('Home')
  await page.getByText('Component 230 is now 1 of 243.').waitFor()
  t.equal((await readOrder(id))[0], 'Component 230')
  await hasFocus('↓Move Component 230 down')
  await move('Component 101', 'down').press('End')
  await page.getByText('Component 101 is now 243 of 243.').waitFor()
  t.equal((await readOrder(id)).at(-1), 'Component 101')
  await move('Component 101', 'up').click()
  await page.getByText('Component 101 is now 242 of 243.').waitFor()

  // reads that take longer than the 3 s for which a form waits
  let held = 0
  let release = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  const isRead = ({ pathname }: URL) => pathname.endsWith(`/status-pages/${id}/components`)
  await page.route(isRead, async route => {
    held++
    await released
    await route.continue()
  })
  t.same(complaints, [])
  await page.clock.install()
  await move('Component 101', 'up').press('Home')
  await waitFor(() => held > 0, { label: 'the page reads its components again' })
  await page.clock.fastForward(4_000)
  t.ok(await move('Component 102', 'up').isDisabled(), 'no order is made from the previous one')
  release()
  await page.getByText('Component 101 is now 1 of 243.').waitFor()
  await hasFocus('↓Move Component 101 down')

  const row = (name: string) => page.locator('.page-item').filter({ has: page.getByText(name, { exact: true }) })
  await row('Component 220').dragTo(row('Component 218'), { targetPosition: { x: 5, y: 2 } })
  await page.getByText(/Component 220 is now \d+ of 243\./).waitFor()
  const order = await readOrder(id)
  t.equal(order.indexOf('Component 220') + 1, order.indexOf('Component 218'))
  await waitFor(async () => (await preview(page).locator('.component').count()) === 242, {
    label: 'the preview has all components',
  })
  // the clock of the test is a script, which the preview refuses
  t.same(
    complaints.filter(text => !text.includes('Blocked script execution')),
    [],
  )
})

t.test(
  'A page is unpublished and deleted after its name is typed; a form with changes asks before it is left',
  async t => {
    const { page, complaints, slug } = await openPage(t)
    await button(page, 'Publish').click()
    await page.getByText('Every visitor of').waitFor()
    await waitFor(async () => (await fetch(`${api.origin}/status/${slug}`)).status === 200, { label: 'published' })
    await button(page, 'Unpublish').click()
    await page.getByText('Visitors of').waitFor()
    await waitFor(async () => (await fetch(`${api.origin}/status/${slug}`)).status === 404, { label: 'unpublished' })
    await field(page, 'Name').fill('Other')
    await page.getByRole('link', { name: 'Status pages' }).first().click()
    t.match(complaints, [/dialog: Leave this page\?/])
    await button(page, 'Discard them').click()
    await page.getByLabel('Type Acme to delete the page').fill('Acme')
    await button(page, 'Delete the page').click()
    await page.waitForURL(`${origin}/pages`)
    await page.getByText('There is no status page.').waitFor()
  },
)

t.test('Two people edit a page and a component, and what the other person saved stays', async t => {
  const { page, complaints, id } = await openPage(t)
  await field(page, 'Name').fill('Mine')
  await call('PUT', `/status-pages/${id}`, { seo_title: 'Theirs' })
  await button(page, 'Save the changes').click()
  await page.getByText('another person changed this since the form was opened; nothing is saved').waitFor()
  t.match((await call('GET', `/status-pages/${id}`)).body.data, { name: 'Acme', seo_title: 'Theirs' })
  await button(page, 'keep your changes').click()
  await button(page, 'Save the changes').click()
  await page.getByText('Saved.', { exact: true }).waitFor()
  t.match((await call('GET', `/status-pages/${id}`)).body.data, { name: 'Mine', seo_title: 'Theirs' })
  await call('PUT', `/status-pages/${id}`, { name: 'Theirs' })
  // the page is read again after a change of this person
  await button(page, 'Publish').click()
  await waitFor(async () => (await field(page, 'Name').inputValue()) === 'Theirs', {
    label: 'a form in which nothing was typed follows the record',
  })
  t.ok(await button(page, 'Save the changes').isDisabled())
  t.equal(await page.getByText('Another person changed').count(), 0)
  await call('PUT', `/status-pages/${id}`, { name: 'Theirs too' })
  const isShown = "document.querySelector('h1').textContent === 'Theirs too'"
  const typed = runAtOnce(page, isShown, typeScript('#field-seo_description', 'Mine'))
  await button(page, 'Unpublish').click()
  await typed
  t.equal(await field(page, 'Name').inputValue(), 'Theirs too')
  t.equal(await page.locator('#field-seo_description').inputValue(), 'Mine', 'what is typed at once stays')
  await button(page, 'Discard them').click()

  const { data } = (await call('GET', `/status-pages/${id}/components`)).body
  const path = `/status-pages/${id}/components/${data.find(({ name }: { name: string }) => name === 'Mail').id}`
  await page.getByRole('button', { name: 'Edit Mail' }).click()
  await page.getByRole('region', { name: 'Components' }).getByLabel('Description').fill('Incoming mail')
  await call('PUT', path, { status: 'outage' })
  await button(page, 'Save the component').click()
  await button(page, 'keep your changes').click()
  await button(page, 'Save the component').click()
  await button(page, 'Save the component').waitFor({ state: 'detached' })
  t.match((await call('GET', path)).body.data, { description: 'Incoming mail', status: 'outage' })
  t.same(complaints, [])
})

t.test('A viewer sees the page and its preview, without buttons, on a phone in the dark', async t => {
  const { id } = await openPage(t)
  const viewer = await createPerson(api, 'vic@example.com', { role: 'viewer', invitedBy: owner })
  const look = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }
  const { page, complaints } = await openAt(t, `/pages/${id}`, { token: viewer.token, ...look })
  await preview(page).getByText('Mail', { exact: true }).first().waitFor()
  await page.getByText('Changing the page needs the role editor.').waitFor()
  t.equal(await page.getByRole('button', { name: /Save|Publish|Edit|Add|Delete|Upload/ }).count(), 0)
  t.equal(await readOverflow(page), 0)
  t.same(await findAccessibilityProblems(page), [])
  t.same(complaints, [])
})

let slugs = 0
/** The editor of a new page with two components and a group. The plan allows one page, so earlier ones are deleted. */
async function openPage(t: Teardown) {
  for (const { id } of (await call('GET', '/status-pages')).body.data) await call('DELETE', `/status-pages/${id}`)
  const slug = `acme-${++slugs}`
  const id = await create('/status-pages', { name: 'Acme', slug })
  await create(`/status-pages/${id}/components`, { name: 'Mail', status: 'operational' })
  await create(`/status-pages/${id}/components`, { name: 'Search', status: 'operational' })
  await create(`/status-pages/${id}/groups`, { name: 'Core' })
  const { page, complaints } = await openAt(t, `/pages/${id}`)
  await preview(page).getByText('Mail', { exact: true }).first().waitFor()
  return { page, complaints, id, slug }
}
