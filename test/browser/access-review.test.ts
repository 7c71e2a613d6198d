import type { Page } from 'playwright-core'
import t from 'tap'
import { startApi } from '../support/api-server.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { readOverflow } from '../support/dashboard-browser.ts'
import { mailedLink } from '../support/mailed-link.ts'
import { startSmtp } from '../support/smtp.ts'
import { createVisitor } from '../support/visitor.ts'
import { openBrowser } from './open-browser.ts'

const smtp = await startSmtp(t)
const api = await startApi(t, {
  ...{ SMTP_URL: smtp.url, MAIL_FROM: 'picket@example.com', HOST: 'localhost', ROLES: 'api,deliver' },
  DEFAULT_PLAN: 'business',
})
const origin = api.origin.replace('127.0.0.1', 'localhost')
const { newContext } = await openBrowser(t)
const PASSWORD = 'correct horse battery'

/** Creates an account with another person's address, with keys and members. */
async function madeByOthers(email: string) {
  const body = { email, name: 'Example Ltd' }
  const { data } = (await api.call('POST', '/agent/bootstrap', { key: null, body })).body
  const key: string = data.api_key
  await api.call('POST', '/api-keys', { key, body: { name: 'Deployments of the shop', scope: 'write' } })
  await api.call('POST', '/api-keys', { key, body: { name: '<b>x</b>'.repeat(8), scope: 'read' } })
  await api.call('POST', '/agent/invite', { key, body: { email: `unknown-${email}`, role: 'viewer' } })
  const member = { email: `a-member-with-a-long-address-of-${email}`, name: 'Ann Example', role: 'admin' }
  const invited = await api.call('POST', '/agent/invite', { key, body: member })
  await createVisitor(api.origin).post(new URL(invited.body.data.claim_url).pathname, { password: PASSWORD })
  return key
}

/** Sets a password by a mailed link, in the browser. */
async function proveByMail(page: Page, email: string) {
  await page.goto(`${origin}/forgot-password`)
  await page.getByLabel('Email address').fill(email)
  await page.getByRole('button').click()
  await page.goto(origin + new URL(await mailedLink(smtp, email, 1)).pathname)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button').click()
}

t.test('The owner of an address keeps one key and ends the rest, in a browser without scripts', async t => {
  const key = await madeByOthers('owner@example.com')
  const context = await newContext({ javaScriptEnabled: false })
  t.teardown(() => context.close())
  const page = await context.newPage()
  await proveByMail(page, 'owner@example.com')
  t.equal(new URL(page.url()).pathname, '/account/access')
  t.match(await page.getByRole('heading', { level: 1 }).textContent(), 'Who keeps access to Example Ltd?')
  await page.getByRole('button', { name: 'Keep the key First key' }).click()
  t.equal((await api.call('GET', '/project', { key })).status, 200)
  await page.getByRole('button', { name: 'End everything' }).click()
  t.equal(new URL(page.url()).pathname, '/')
  t.equal((await api.call('GET', '/members', { key })).body.meta.total, 1)
  t.equal((await api.call('GET', '/api-keys', { key })).body.meta.total, 1)
})

t.test('The pages are accessible on phones and desktops, in light and dark', async t => {
  const looks = [
    { size: { width: 390, height: 844 }, colorScheme: 'dark' },
    { size: { width: 1280, height: 900 }, colorScheme: 'light' },
  ] as const
  const email = 'look@example.com'
  await madeByOthers(email)
  const page = await (await newContext()).newPage()
  const isFine = async (what: string) => {
    for (const { size, colorScheme } of looks) {
      await page.setViewportSize(size)
      await page.emulateMedia({ colorScheme })
      t.same(await findAccessibilityProblems(page), [], `${what}, ${colorScheme}`)
      t.equal(await readOverflow(page), 0, `${what}, ${colorScheme}`)
    }
  }
  await proveByMail(page, email)
  await isFine('undecided')
  await page.goto(`${origin}/account`)
  await isFine('account')
  await page.getByRole('link', { name: 'Keep or end them' }).click()
  await page.getByRole('button', { name: 'End everything' }).click()
  await isFine('no key')
  await page.getByRole('button', { name: 'Create an admin key' }).click()
  await isFine('made key')
  await page.getByRole('link', { name: 'I have copied it' }).click()
  t.equal(new URL(page.url()).pathname, '/')
})
