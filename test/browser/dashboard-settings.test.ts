import type { Page } from 'playwright-core'
import t from 'tap'
import { v7 as uuidv7 } from 'uuid'
import { sha256 } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { findAccessibilityProblems } from '../support/axe.ts'
import { addSession, readOverflow, readUntil } from '../support/dashboard-browser.ts'
import { makeOperator } from '../support/operator.ts'
import { createPerson, PERSON_PASSWORD } from '../support/person.ts'
import type { Teardown } from '../support/teardown.ts'
import type { Tenant } from '../support/tenant.ts'
import { waitFor } from '../support/wait.ts'
import { openBrowser } from './open-browser.ts'

const api = await startApi(t, { HOST: 'localhost' })
const origin = api.origin.replace('127.0.0.1', 'localhost')
const { openTab } = await openBrowser(t)
const owner = await createPerson(api, 'ann@example.com')
const call = (method: string, path: string, body?: unknown, key = owner.key) => api.call(method, path, { key, body })

/** A browser without a session, or with that of a person. */
async function openAs(t: Teardown, token: string | null, options: object = {}, server = origin) {
  const watched = await openTab(t, server, { reducedMotion: 'reduce', ...options })
  if (token !== null) await addSession(watched.context, token)
  return watched
}

const field = (page: Page, name: string) => page.getByLabel(name, { exact: true })
const main = (page: Page) => page.locator('main')
/** Addresses of the installation name its PUBLIC_URL. */
const toPath = (text: string | null) => new URL(text!).pathname

t.test('A person is invited by a link, sees everything as a viewer and can change nothing', async t => {
  const { page, complaints } = await openAs(t, owner.token)
  await page.goto(`${origin}/settings/members`)
  await field(page, 'Email address').fill('not an address')
  await page.getByRole('button', { name: 'Invite', exact: true }).click()
  await page.locator('.field .wrong').waitFor()
  await field(page, 'Email address').fill('vera@example.com')
  await field(page, 'Role').selectOption('viewer')
  await page.getByRole('button', { name: 'Invite', exact: true }).click()
  const link = await page.locator('.secret code').textContent()
  await page.getByText('Invited: no password is set yet.').waitFor()
  await page.getByRole('link', { name: 'Monitors', exact: true }).click()
  t.match(complaints.splice(-1), [/dialog: Leave this page\?/], 'the link would be lost')
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await page.reload()
  t.equal(await page.getByText(toPath(link)).count(), 0, 'the link is shown once')
  t.same(
    complaints.filter(text => !/status of 400/.test(text)),
    [],
  )

  const viewer = await openAs(t, null)
  await viewer.page.goto(origin + toPath(link))
  await viewer.page.getByLabel('Password', { exact: false }).first().fill(PERSON_PASSWORD)
  await viewer.page.locator('main button').click()
  await viewer.page.waitForURL(url => !url.pathname.startsWith('/claim'))
  viewer.complaints.length = 0
  for (const [path, role] of [
    ['/settings/members', 'admin'],
    ['/settings/keys', 'admin'],
    ['/settings/audit', 'admin'],
    ['/settings/wall', 'editor'],
  ] as const) {
    await viewer.page.goto(origin + path)
    await viewer.page.getByText(`needs the role ${role}. Your role is viewer.`).waitFor()
    t.equal(await main(viewer.page).getByRole('button').count(), 0, path)
  }
  await viewer.page.goto(`${origin}/monitors`)
  t.equal(await viewer.page.getByRole('link', { name: 'New monitor' }).count(), 0)
  t.same(viewer.complaints, [])

  await field(page, 'Role of vera@example.com').selectOption('editor')
  const vera = (await call('GET', '/members')).body.data.find(({ email }: { email: string }) =>
    email.startsWith('vera'),
  )
  t.equal((await call('PUT', `/members/${vera.id}`, { role: 'admin' })).status, 200)
  // a page that knows of the change already has no button that can be clicked
  await page.getByRole('button', { name: 'Save the role' }).dispatchEvent('click')
  await page.getByText('Another person changed this member.').waitFor()
  t.equal((await call('GET', '/members')).body.data.find(({ id }: { id: string }) => id === vera.id).role, 'admin')
  await page.getByRole('button', { name: 'keep your changes' }).click()
  await page.getByRole('button', { name: 'Save the role' }).click()
  await page.getByRole('button', { name: 'Save the role' }).waitFor({ state: 'detached' })
  await viewer.page.goto(`${origin}/monitors`)
  await viewer.page.getByRole('link', { name: 'New monitor' }).waitFor()
  await page.getByRole('button', { name: 'Remove… of vera@example.com' }).click()
  await page.getByLabel('Type vera@example.com to remove the member').fill('vera@example.com')
  await page.getByRole('button', { name: 'Remove the member' }).click()
  await page.getByRole('heading', { name: 'vera@example.com' }).waitFor({ state: 'detached' })
  t.equal((await call('GET', '/members')).body.meta.total, 1)
})

t.test('An API key is shown once and works until it is deleted, and the audit log names it', async t => {
  const { context, page, complaints } = await openAs(t, owner.token)
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto(`${origin}/settings/keys`)
  await field(page, 'Name').fill('Deployment')
  await page.getByRole('button', { name: 'Create the key' }).click()
  const key = (await page.locator('.secret code').textContent())!
  t.match(key, /^svc_\w{36}$/)
  t.equal((await call('GET', '/monitors', undefined, key)).status, 200)
  await page.getByRole('button', { name: 'Copy the secret' }).click()
  await page.getByText('Copied.', { exact: true }).waitFor()
  t.equal(await page.evaluate('navigator.clipboard.readText()'), key)
  await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error())')
  await page.getByRole('button', { name: 'Copy the secret' }).click()
  await page.getByText('The browser does not allow copying. Select the text and copy it.').waitFor()
  await page.getByRole('button', { name: 'I have copied it' }).click()
  await page.locator('.secret').waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('heading', { name: 'Deployment' }).waitFor()
  await page.getByText(/, scope read, created .* by ann@example\.com$/).waitFor()
  t.notOk((await page.content()).includes(key), 'nothing of the page contains the key')
  await page.getByRole('button', { name: 'Delete… Deployment' }).click()
  await page.getByLabel('Type Deployment to delete the API key').fill('Deployment')
  await page.getByRole('button', { name: 'Delete the API key' }).click()
  await page.getByRole('heading', { name: 'Deployment' }).waitFor({ state: 'detached' })

  await page.goto(`${origin}/settings/audit`)
  await field(page, 'Action').selectOption('deleted')
  await field(page, 'Kind of record').selectOption('api_key')
  await page.getByRole('button', { name: 'Filter' }).click()
  await page.waitForURL(/action=deleted/)
  await page.getByText('deleted the API key Deployment').waitFor()
  await page.locator('.audit summary').first().click()
  await page
    .getByRole('cell', { name: 'write' })
    .or(page.getByRole('cell', { name: 'read' }))
    .first()
    .waitFor()
  t.same(complaints, [])
})

t.test(
  'A wallboard needs no session, shows what fails without scrolling, and ends when its link is revoked',
  async t => {
    const { id } = (
      await call('POST', '/monitors', { name: 'Checkout', type: 'http', url: 'https://a.example', tags: ['shop'] })
    ).body.data
    for (let i = 0; i < 30; i++)
      await call('POST', '/monitors', { name: `M${i}`, type: 'http', url: 'https://b.example', tags: ['other'] })
    await execute(api.db, `UPDATE monitors SET status = 'up', status_changed_at = now()`)
    const { page, complaints } = await openAs(t, owner.token)
    await page.goto(`${origin}/settings/wall`)
    await field(page, 'Name').fill('Office')
    await field(page, 'Monitors').fill('is:nothing')
    await page.getByRole('button', { name: 'Create the link' }).click()
    await page.getByText('is: accepts up, down').waitFor()
    await field(page, 'Monitors').fill('')
    await page.getByRole('button', { name: 'Create the link' }).click()
    const path = toPath(await page.locator('.secret code').textContent())
    await page.getByRole('button', { name: 'I have copied it' }).click()

    const wall = await openAs(t, null, { viewport: { width: 1_280, height: 720 } })
    await wall.page.clock.install()
    await wall.page.goto(origin + path)
    await wall.page.getByText('All 31 monitors are quiet').waitFor()
    t.equal(await wall.page.locator('main.quiet').count(), 1)
    await execute(api.db, `UPDATE monitors SET status = 'down', status_changed_at = now() WHERE id = ?`, [id])
    await readUntil(wall.page, () => wall.page.getByRole('heading', { name: 'Checkout' }).isVisible(), 'the tile')
    t.match(await wall.page.locator('.sentence').textContent(), '1 down of 31 monitors')
    t.match(await wall.page.locator('.clock').textContent(), /^\d\d:\d\d:\d\d/)
    const readHeight = () => wall.page.evaluate('document.documentElement.scrollHeight')
    for (const viewport of [
      { width: 1_280, height: 720 },
      { width: 390, height: 844 },
    ]) {
      await wall.page.setViewportSize(viewport)
      t.equal(await readOverflow(wall.page), 0)
      // the bars follow the size of the window in one of the next frames
      await waitFor(async () => Number(await readHeight()) <= viewport.height, { label: 'no scrolling' })
      t.same(await findAccessibilityProblems(wall.page), [])
    }
    t.same(wall.complaints, [])

    await page.getByRole('button', { name: 'Revoke… Office' }).click()
    await page.getByLabel('Type Office to revoke the link').fill('Office')
    await page.getByRole('button', { name: 'Revoke the link' }).click()
    await page.getByText('There is no link to a wallboard yet.').waitFor()
    await readUntil(
      wall.page,
      () => wall.page.getByText('Page not found').first().isVisible(),
      'the page of a revoked link',
    )
    t.notMatch(await wall.page.content(), 'Checkout')
    t.same(complaints, [])
  },
)

t.test(
  'A person is disconnected from the chat, and a team after its alert channels were shown and counted',
  async t => {
    const { project } = (await call('GET', '/me')).body.data
    const [member] = (await call('GET', '/members')).body.data
    const installation = { id: uuidv7(), projectId: project.id }
    await execute(
      api.db,
      `INSERT INTO chat_installations (id, project_id, team_id, team_name, scopes, tokens, people_due_at, installed_at,
       created_at, updated_at)
     VALUES (:id, :projectId, 'T1', 'Ops team', '{}', '', now(), now(), now(), now())`,
      installation,
    )
    const config = { installation_id: installation.id, channel_id: 'C0123456789' }
    t.equal((await call('POST', '/alerts/channels', { name: 'Chat alerts', type: 'chat_a', config })).status, 201)
    // the team removed the app, so there is no token to give back
    await execute(api.db, 'UPDATE chat_installations SET revoked_at = now() WHERE id = :id', { id: installation.id })
    await execute(
      api.db,
      `INSERT INTO chat_identities (id, project_id, team_id, chat_user_id, user_id, created_at, updated_at)
     VALUES (:id, :projectId, 'T1', 'U0123', :userId, now(), now())`,
      { ...installation, userId: member.user_id },
    )
    const { page, complaints } = await openAs(t, owner.token)
    await page.goto(`${origin}/settings/chat`)
    const person = page.getByRole('row', { name: 'U0123' })
    await person.getByRole('button', { name: `Disconnect ${member.email}` }).click()
    await person.getByText('gets no direct messages').waitFor()
    t.match((await call('GET', '/chat/identities')).body.data, [{ disconnected_at: /Z$/ }])
    await person.getByRole('button', { name: `Connect again ${member.email}` }).click()
    await person.getByRole('button', { name: `Disconnect ${member.email}` }).waitFor()
    t.match((await call('GET', '/chat/identities')).body.data, [{ disconnected_at: null }])
    await page.getByRole('button', { name: 'Disconnect… Ops team' }).click()
    await page.getByRole('link', { name: 'Chat alerts' }).waitFor()
    const button = page.getByRole('button', { name: 'Disconnect the team' })
    t.equal(await button.isDisabled(), true)
    await page.getByLabel('Type 1, the number of alert channels that are deleted').fill('1')
    await button.click()
    await page.getByText('No team is connected.').waitFor()
    t.equal((await call('GET', '/alerts/channels')).body.meta.total, 0)
    t.same(complaints, [])
  },
)

t.test('Without a chat app the page says what the operator has to configure', async t => {
  const none = { CHAT_CLIENT_ID: '', CHAT_CLIENT_SECRET: '', CHAT_SIGNING_SECRET: '' }
  const bare = await startApi(t, { HOST: 'localhost', ...none })
  const ben = await createPerson(bare, 'ben@example.com')
  const { page, complaints } = await openAs(t, owner.token)
  await page.goto(`${origin}/settings/chat`)
  await page.getByRole('link', { name: 'Connect a team' }).waitFor()
  t.equal(await page.getByText('this installation has no chat app').count(), 0)

  const bareOrigin = bare.origin.replace('127.0.0.1', 'localhost')
  const without = await openAs(t, ben.token, {}, bareOrigin)
  await without.page.goto(`${bareOrigin}/settings/chat`)
  await without.page.getByText('this installation has no chat app').waitFor()
  for (const name of Object.keys(none))
    t.equal(await main(without.page).getByText(name, { exact: true }).count(), 1, name)
  t.equal(await without.page.getByRole('link', { name: 'Connect a team' }).count(), 0)
  t.same(await findAccessibilityProblems(without.page), [])
  t.same([...complaints, ...without.complaints], [])
})

t.test('The operator sees on the open page when a new probe has connected', async t => {
  const { project, organization } = (await call('GET', '/me')).body.data
  await makeOperator(api.db, { projectId: project.id, organizationId: organization.id } as Tenant)
  const { page, complaints } = await openAs(t, owner.token)
  await page.clock.install()
  await page.goto(`${origin}/fleet`)
  await page.getByText('Waiting for a new probe in us-east.').waitFor()
  await page.getByRole('button', { name: 'Create the command' }).click()
  const command = await page.locator('code.command', { hasText: 'install-probe.sh' }).textContent()
  const [, token = ''] =
    /^curl -fsSL .* && FLEET_URL=\S+ FLEET_TLS=off PROBE_TOKEN=(prb_\w+) sudo /.exec(command ?? '') ?? []
  await execute(
    api.db,
    `INSERT INTO probes (id, token_id, region, name, instance_id, version, capabilities, connected_to, connected_at,
       last_seen_at, created_at)
     SELECT :id, id, region, 'iad-7', 'i', '0.1.0', '{}', 'here', now(), now() + interval '1 hour', now()
     FROM probe_tokens WHERE token_hash = :hash`,
    { id: uuidv7(), hash: sha256(token) },
  )
  await readUntil(page, () => page.getByText('Connected: iad-7').isVisible(), 'the new probe')
  await page.getByRole('cell', { name: 'iad-7' }).waitFor()
  t.same(complaints, [])
})

t.test('The settings are accessible on phones, in dark', async t => {
  // test/long/dashboard-accessibility.test.ts has the other sizes and schemes
  const look = { viewport: { width: 390, height: 844 }, colorScheme: 'dark', hasTouch: true }
  const { page, complaints } = await openAs(t, owner.token, look)
  for (const path of ['', '/members', '/keys', '/chat', '/wall', '/audit', '/../fleet']) {
    await page.goto(`${origin}/settings${path}`)
    t.same(await findAccessibilityProblems(page), [], path)
    t.equal(await readOverflow(page), 0, path)
  }
  t.same(complaints, [])
})
