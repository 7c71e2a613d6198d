import type { Page } from 'playwright-core'
import t from 'tap'
import { startApi } from '../support/api-server.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { readOverflow } from '../support/dashboard-browser.ts'
import { openBrowser } from './open-browser.ts'

const api = await startApi(t, { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'picket@example.com', HOST: 'localhost' })
const origin = api.origin.replace('127.0.0.1', 'localhost')
const { newContext } = await openBrowser(t)

const PASSWORD = 'correct horse battery'
const LOOKS = [
  { size: { width: 390, height: 844 }, colorScheme: 'dark' },
  { size: { width: 1280, height: 900 }, colorScheme: 'light' },
] as const

t.test('An invited person sets a password, changes it, signs out and in, in a browser without scripts', async t => {
  const { key } = await api.tenant()
  const email = 'ann@example.com'
  const { body } = await api.call('POST', '/agent/invite', { key, body: { email, role: 'admin' } })
  const context = await newContext({ javaScriptEnabled: false })
  t.teardown(() => context.close())
  const page = await context.newPage()
  await page.goto(origin + new URL(body.data.claim_url).pathname)
  await page.getByLabel('Password').fill('short')
  await page.getByRole('button').click()
  t.match(await page.locator('.error').textContent(), /at least 12 characters/)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button').click()
  t.equal(new URL(page.url()).pathname, '/')
  await page.goto(`${origin}/account`)
  t.match(await page.getByRole('main').textContent(), /ann@example\.com/)

  await page.getByLabel('Current password').fill(PASSWORD)
  await page.getByLabel('New password').fill(`${PASSWORD} staple`)
  await page.getByRole('button', { name: 'Change the password' }).click()
  t.match(await page.getByRole('status').textContent(), /was changed/)
  await page.getByRole('button', { name: 'Sign out' }).click()
  t.equal(new URL(page.url()).pathname, '/sign-in')

  await page.goto(`${origin}/account`)
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill('something else')
  await page.getByRole('button', { name: 'Sign in' }).click()
  t.match(await page.getByRole('alert').textContent(), /wrong/)
  t.equal(await page.getByLabel('Email address').inputValue(), email, 'the address is kept in the form')
  await page.getByLabel('Password').fill(`${PASSWORD} staple`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  t.equal(new URL(page.url()).pathname, '/account')
})

t.test('The pages are accessible on phones and desktops, in light and dark', async t => {
  const { key } = await api.tenant()
  const { body } = await api.call('POST', '/agent/invite', { key, body: { email: 'bob@example.com' } })
  const claim = new URL(body.data.claim_url).pathname
  const other = await api.call('POST', '/agent/invite', { key, body: { email: 'cleo@example.com' } })
  const form = { method: 'POST', body: new URLSearchParams({ password: PASSWORD }), headers: { origin: api.origin } }
  await fetch(api.origin + new URL(other.body.data.claim_url).pathname, { ...form, redirect: 'manual' })
  const signIn = async (page: Page) => {
    await page.goto(`${origin}/account`)
    await page.getByLabel('Email address').fill('cleo@example.com')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Sign out everywhere else' }).waitFor()
  }
  const begun = await api.call('GET', '/chat/oauth/install', { key })
  const state = new URL(begun.headers.get('location')!).searchParams.get('state')
  const connect = `/settings/chat/connect?code=x&state=${state}`
  const page = await (await newContext()).newPage()
  for (const path of ['/sign-in', claim, '/claim/nothing', '/forgot-password', connect, '/account']) {
    if (path === '/account') await signIn(page)
    else await page.goto(origin + path)
    for (const { size, colorScheme } of LOOKS) {
      await page.setViewportSize(size)
      await page.emulateMedia({ colorScheme })
      t.same(await findAccessibilityProblems(page), [], `${path}, ${colorScheme}`)
      t.equal(await readOverflow(page), 0, `${path}, ${colorScheme}`)
    }
  }
})
