import type { Page } from 'playwright-core'
import t from 'tap'
import { findAccessibilityProblems } from '../support/axe.ts'
import { startPicket } from '../support/picket.ts'
import { startReceiver } from '../support/receiver.ts'
import { startTarget } from '../support/target.ts'
import { openWatchedPage } from '../support/watched-page.ts'
import { openBrowser } from './open-browser.ts'

// takes about 60 s
const REGIONS = ['us-east', 'eu-west', 'ap-southeast']
const picket = await startPicket(t, { regions: REGIONS, env: { HOST: 'localhost' } })
const origin = picket.origin.replace('127.0.0.1', 'localhost')
const [target, receiver] = await Promise.all([startTarget(t), startReceiver(t)])
const { newContext } = await openBrowser(t)

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true })

/** The path of a link with which the owner sets a password, as `npm start` prints it. */
async function createClaimPath(): Promise<string> {
  const members = await picket.api.get('/members')
  const made = await picket.api.post(`/members/${members.body.data[0].id}/claim-link`)
  return new URL(made.body.data.claim_url).pathname
}

t.test(
  'A person claims an account, monitors a target, adds a channel and is alerted when the target breaks',
  async t => {
    const context = await newContext({ viewport: { width: 390, height: 844 }, reducedMotion: 'reduce' })
    t.teardown(() => context.close())
    const { page, complaints } = await openWatchedPage(context, origin)
    await page.goto(origin + (await createClaimPath()))
    await page.getByLabel('Password').fill('correct horse battery')
    await page.getByRole('button').click()
    await page.waitForURL(`${origin}/`)
    complaints.length = 0
    const changes: string[] = []
    page.on('request', request => {
      const [, path] = request.url().split('/api/v1')
      if (path && request.method() !== 'GET')
        changes.push(`${request.method()} ${path.replace(/[0-9a-f-]{36}/g, '{id}')}`)
    })
    await page.evaluate('window.mark = 1')
    await page.getByRole('heading', { name: 'Nothing is monitored yet' }).waitFor()

    await button(page, 'Try it').and(page.locator(':enabled')).waitFor()
    await page.getByLabel('What should be monitored?').fill(target.url)
    await page.keyboard.press('Enter')
    await page.getByText('3 up of 3 regions. Nothing was saved.').waitFor()
    t.equal((await picket.api.get('/monitors')).body.meta.total, 0)
    await button(page, 'Create the monitor').click()
    await page.getByText('This is the first verdict.').waitFor()
    await page.getByText('no alert channel:').waitFor()
    t.match(await page.getByRole('status').allTextContents(), [/1 active monitor has no alert channel/, /Up/])
    t.same(await findAccessibilityProblems(page), [], 'the first verdict')

    await link(page, 'Next: who is alerted?').click()
    await page.getByLabel('Address', { exact: true }).fill(receiver.url)
    await button(page, 'Send a test').click()
    await page.getByText('The receiver accepted the message.').waitFor()
    t.same(await findAccessibilityProblems(page), [], 'the channel')
    await button(page, 'Create the channel').click()
    await page.getByText('Webhook is alerted about 1 monitor.').waitFor()
    await page.getByText('no alert channel:').waitFor({ state: 'detached' })
    t.equal(await link(page, 'Next: see an outage').count(), 0, 'one link leads to the next step')
    await button(page, 'I have copied it').click()

    await page.getByText('An example. Nothing of it is saved').waitFor()
    await button(page, 'Send the alert').click()
    await page.getByText('Delivered', { exact: true }).waitFor()
    t.same(await findAccessibilityProblems(page), [], 'the example')
    const { body } = await picket.api.get('/incidents')
    t.equal(body.meta.total, 0, 'the example is not an incident')
    const before = receiver.received.length
    await link(page, 'Go to the overview').click()
    await page.getByRole('heading', { name: 'The monitor is up' }).waitFor()
    // what has to fit into a minute, without a clock: these requests and no others, and no load of a page
    t.same(changes, [
      'POST /monitors/test',
      'POST /monitors',
      'POST /alerts/channels/test',
      'POST /alerts/channels',
      'POST /monitors/bulk-changes',
      'POST /alerts/channels/{id}/test',
    ])
    t.equal(await page.evaluate('window.mark'), 1, 'no page was loaded since the sign-in')

    target.behave({ kind: 'answer', status: 503 })
    await link(page, 'Monitors').click()
    const monitor = (await picket.api.get('/monitors')).body.data[0]
    await link(page, monitor.name).click()
    await button(page, 'Check now').click()
    const alerts = await receiver.waitFor(before + 1)
    t.match(alerts.at(-1)!.json, { event: 'monitor.down', data: { monitor: { id: monitor.id } } })
    await page.getByText('Down', { exact: true }).first().waitFor()
    await link(page, 'Open incident').waitFor()
    t.same(complaints, [])
  },
)
