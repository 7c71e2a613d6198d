import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import t from 'tap'
import { type ApiServer, startApi } from '../support/api-server.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { addSession, readUntil } from '../support/dashboard-browser.ts'
import { startDomainProvider } from '../support/domain-provider.ts'
import { createPerson } from '../support/person.ts'
import { insertStatusPage } from '../support/status-pages.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import { openWatchedPage } from '../support/watched-page.ts'
import { openBrowser } from './open-browser.ts'

const TARGET = 'pages.picket-host.com'
const DOMAIN = 'status.acme.com'
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const folder = mkdtempSync(join(tmpdir(), 'connect-'))
t.teardown(() => rmSync(folder, { recursive: true }))
writeFileSync(join(folder, 'key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }))

const mayIssue = async (name: string) =>
  (await fetch(`${api.operator}/internal/tls-check?domain=${encodeURIComponent(name)}`)).status === 200
const provider = await startDomainProvider(t, { domain: DOMAIN, target: TARGET, publicKey, mayIssue })
const settings = {
  ...{ HOST: 'localhost', NAMESERVERS: provider.nameserver, CUSTOM_DOMAIN_TARGET: TARGET },
  ...{ DOMAIN_CONNECT_PROVIDER_ID: 'picket.example', DOMAIN_CONNECT_KEY: join(folder, 'key.pem') },
}
const api: ApiServer = await startApi(t, settings, {}, provider.https)
const origin = api.origin.replace('127.0.0.1', 'localhost')
const { newContext } = await openBrowser(t)
const owner = await createPerson(api, 'ann@example.com')
const call = async (method: string, path: string, body?: unknown) =>
  (await api.call(method, path, { key: owner.key, body })).body.data
const me = await call('GET', '/me')
await api.db.raw(`UPDATE organizations SET plan = 'pro' WHERE id = ?`, [me.organization.id])

/** A tab with a clock that tests move. The certificate of the provider is not known to the browser. */
async function openAt(t: Teardown, path: string, options: object = {}) {
  const context = await newContext({ timezoneId: 'UTC', reducedMotion: 'reduce', ignoreHTTPSErrors: true, ...options })
  t.teardown(() => context.close())
  await addSession(context, owner.token)
  const { page, complaints } = await openWatchedPage(context, origin)
  await page.clock.install()
  await page.goto(origin + path)
  await page.locator('button.search:enabled').waitFor()
  return { page, complaints, context }
}

const createPage = async (slug: string) => (await call('POST', '/status-pages', { name: 'Acme', slug })).id as string
const step = (page: Page, text: string) => page.getByRole('list', { name: 'Steps' }).getByText(text)

t.test('Domain Connect sets the records, and the progress leads to the certificate without a click', async t => {
  const id = await createPage('connect')
  const { page, complaints, context } = await openAt(t, `/pages/${id}/domain`)
  await page.getByLabel('Domain').fill(DOMAIN)
  await page.getByRole('button', { name: 'Set the domain' }).click()
  await page.getByText(`${DOMAIN} points here: not yet`).waitFor()
  t.equal(await page.getByText('not found', { exact: true }).count(), 2)
  await page.getByText('DNS Example can set both records for you.').waitFor()
  await page.getByRole('button', { name: 'Prepare Domain Connect' }).click()
  const link = page.getByRole('link', { name: 'Continue at DNS Example' })
  const [consent] = await Promise.all([context.waitForEvent('page'), link.click()])
  t.equal(
    await consent.evaluate('document.referrer + window.opener'),
    'null',
    'the provider learns nothing of the page',
  )
  t.equal((await call('GET', `/status-pages/${id}`)).custom_domain_verified_at, null)
  await consent.getByRole('button', { name: 'Agree' }).click()
  await consent.getByText('The records are set.').waitFor()
  await consent.close()

  const isShown = (text: string) => async () => (await step(page, text).count()) > 0
  await readUntil(page, isShown('The domain is verified: done'), 'the domain is verified')
  t.equal(await page.getByText('✓ in place').count(), 2)
  t.equal(await link.count(), 0, 'Domain Connect is not offered again')
  await page.getByText(`${DOMAIN} has been verified since`).waitFor()
  await step(page, 'The certificate is issued when the page is published: not yet').waitFor()
  t.same(await findAccessibilityProblems(page), [])

  t.equal(await page.getByRole('link', { name: 'Publish it' }).getAttribute('href'), `/pages/${id}`)
  await call('PUT', `/status-pages/${id}`, { is_published: true })
  await readUntil(page, isShown('The certificate is there: done'), 'the certificate is there')
  t.equal(await page.getByRole('link', { name: `Open ${DOMAIN}` }).getAttribute('href'), `https://${DOMAIN}/`)
  await step(page, 'Certificate of Test authority, valid until').waitFor()
  t.equal(await page.getByText('every 15 seconds').count(), 0, 'nothing is left to wait for')
  t.equal(await page.getByText('The certificate is issued').count(), 0)
  t.same(await findAccessibilityProblems(page), [])
  t.same(complaints, [])
})

t.test('A published page with five monitors takes ten steps, and the records of its domain three more', async t => {
  const names = ['Shop', 'Search', 'Login', 'Mail', 'Files']
  for (const name of [...names, 'Inside only']) await call('POST', '/monitors', { name, type: 'heartbeat' })
  const { page, complaints } = await openAt(t, '/')
  let steps = 0
  const click = async (role: 'link' | 'button', name: string | RegExp) => {
    steps++
    await page.getByRole(role, { name, exact: true }).first().click()
  }
  const fill = async (label: string, text: string) => {
    steps++
    await page.getByLabel(label, { exact: true }).fill(text)
  }
  await click('link', 'Pages')
  await click('link', /^(New status page|Create the first one)$/)
  await fill('Name', 'Acme Five')
  for (const name of names) await click('button', `Add ${name}`)
  await page.getByText('5 monitors', { exact: true }).waitFor()
  t.equal(await page.evaluate('document.activeElement.textContent'), 'Add Inside only', 'keys go on at the next one')
  t.same(await findAccessibilityProblems(page), [])
  steps++
  await page.getByLabel('Publish it at once').check()
  await click('button', 'Create the page')
  await page.getByText('Published.', { exact: true }).waitFor()
  t.equal(steps, 10)
  await click('link', 'Domain')
  await fill('Domain', 'five.acme.com')
  await click('button', 'Set the domain')
  await page.getByText('five.acme.com points here: not yet').waitFor()
  t.equal(await page.getByText('not found', { exact: true }).count(), 2, 'both records to create are shown')
  t.equal(steps, 13)
  const published = await fetch(`${api.origin}/status/acme-five/api/v2/components.json`)
  const { components } = (await published.json()) as { components: { name: string }[] }
  t.same(
    components.map(({ name }) => name),
    names,
    'visitors see the five',
  )
  // the clock of the test is a script, which the preview of the editor refuses
  t.same(
    complaints.filter(text => !text.includes('Blocked script execution')),
    [],
  )
})

t.test('A domain of another page is refused with a reason, and verified once that page gives it up', async t => {
  const other = await api.tenant('pro')
  const rival = await insertStatusPage(api.db, other.projectId, 'rival')
  const rivalPath = `/status-pages/${rival}/custom-domain`
  const ask = (method: string, body?: object) => api.call(method, rivalPath, { key: other.key, body })
  const domain = 'other.acme.com'
  const [pointing, proof] = (await ask('PUT', { domain })).body.data.records
  provider.zone.push({ type: 'CNAME', name: domain, data: pointing.value })
  provider.zone.push({ type: 'TXT', name: proof.name, data: proof.value })
  t.equal((await api.call('POST', `${rivalPath}/verify`, { key: other.key })).body.data.verified, true)

  const id = await createPage('second')
  const { page, complaints } = await openAt(t, `/pages/${id}/domain`)
  await page.getByLabel('Domain').fill(domain)
  await page.getByRole('button', { name: 'Set the domain' }).click()
  await page.getByText(`${domain} points here: done`).waitFor()
  const own = page.getByRole('row').filter({ hasText: 'TXT' }).locator('code').nth(1)
  provider.zone.push({ type: 'TXT', name: proof.name, data: (await own.textContent())! })
  const refusal = page.getByText(`${domain} is already the custom domain of another status page.`)
  await readUntil(page, async () => (await refusal.count()) > 0, 'the domain is refused')
  await ask('DELETE')
  const isVerified = async () => (await step(page, 'The domain is verified: done').count()) > 0
  await readUntil(page, isVerified, 'the domain is verified')
  t.equal(await refusal.count(), 0)
  t.same(
    complaints.filter(text => !/Failed to load resource.*409/.test(text)),
    [],
    'browsers report refused requests',
  )
})

t.test('A subscriber is removed after the masked address was typed, and receives nothing more', async t => {
  const id = await createPage('subscribed')
  await call('PUT', `/status-pages/${id}`, { is_published: true })
  for (const email of ['bob@example.com', 'cara@example.com']) {
    const body = new URLSearchParams({ email })
    await fetch(`${api.origin}/status/subscribed/subscribe`, { method: 'POST', body })
  }
  await api.db.raw('UPDATE page_subscribers SET confirmed_at = now() WHERE page_id = ?', [id])
  const { page, complaints } = await openAt(t, `/pages/${id}/subscribers`)
  await page.getByText('2 subscribers: 2 by email, 0 by webhook.').waitFor()
  await page.getByRole('button', { name: 'Remove b***@example.com' }).click()
  const dialog = page.getByRole('dialog', { name: 'Remove a subscriber' })
  const remove = dialog.getByRole('button', { name: 'Remove the subscriber' })
  t.equal(await remove.isDisabled(), true)
  await dialog.getByLabel('Type b***@example.com to remove the subscriber').fill('c***@example.com')
  t.equal(await remove.isDisabled(), true, 'another address removes nothing')
  t.same(await findAccessibilityProblems(page), [])
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await dialog.waitFor({ state: 'detached' })
  const opener = page.getByRole('button', { name: 'Remove b***@example.com' })
  t.equal(await opener.evaluate(element => element === element.ownerDocument.activeElement), true, 'the focus is back')

  await opener.press('Enter')
  await dialog.getByLabel('Type b***@example.com to remove the subscriber').fill('b***@example.com')
  await remove.press('Enter')
  await page.getByText('1 subscriber: 1 by email, 0 by webhook.').waitFor()
  t.equal(await opener.count(), 0)
  await page.getByText('b***@example.com is removed.').waitFor()
  const left = await call('GET', `/status-pages/${id}/subscribers`)
  t.same(
    left.map(({ address }: { address: string }) => address),
    ['c***@example.com'],
  )
  await page.getByRole('button', { name: 'Remove c***@example.com' }).click()
  await dialog.getByLabel('Type c***@example.com').fill('c***@example.com')
  await remove.click()
  await page.getByText('There is no confirmed subscriber.').waitFor()
  t.same(complaints, [])
})

t.test('Widget and frame are shown as they look on another site, with the options that are chosen', async t => {
  const id = await createPage('embedded')
  const { page, complaints } = await openAt(t, `/pages/${id}/embeds`)
  t.equal(await page.getByText('is shown here when the page is published').count(), 2)
  await call('POST', `/status-pages/${id}/components`, { name: 'Shop', status: 'outage' })
  await call('PUT', `/status-pages/${id}`, { is_published: true })
  await page.reload()
  const widget = page.frameLocator('iframe[title="The widget now"]').getByRole('link', { name: 'All systems are down' })
  const frame = page.frameLocator('iframe[title="The frame now"]')
  await frame.getByRole('link', { name: 'All systems are down' }).waitFor()
  await widget.waitFor()
  t.equal(await widget.getAttribute('class'), 'auto floating bottom right')
  t.same(await findAccessibilityProblems(page), [])

  await page.getByLabel('Where').selectOption('top-left')
  await page.getByLabel('Theme of the widget').selectOption('dark')
  await waitFor(async () => (await widget.getAttribute('class')) === 'dark floating top left', { label: 'the widget' })
  await page.getByText('data-position="top-left" data-theme="dark"').waitFor()
  await page.getByLabel('Theme', { exact: true }).selectOption('dark')
  await frame.locator('body.dark').waitFor()
  await page.getByLabel('Only while something is wrong').check()
  await page.getByText('While everything works, the widget shows nothing.').waitFor()
  await widget.waitFor()
  t.same(complaints, [])
  for (const query of [
    '',
    '?slug=embedded',
    '?slug=..&position=inline&theme=auto',
    '?slug=embedded&position=x&theme=auto',
  ])
    t.equal((await fetch(`${origin}/assets/widget-frame.html${query}`)).status, 404, query)
})
