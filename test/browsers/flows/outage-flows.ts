import { recordChannelResults } from '../../../control-plane/alerting/deliveries/attempts/channel-failure-actions.ts'
import { PAUSE_AFTER_FAILURES } from '../../../control-plane/alerting/deliveries/attempts/failure-count.ts'
import { TEXT_ATTACKS } from '../../support/attacks.ts'
import { insertOutage } from '../../support/outage.ts'
import { PERSON_PASSWORD } from '../../support/person.ts'
import { insertMonitor } from '../../support/verdict.ts'
import { type Flows, findAccessibilityProblems } from '../scene.ts'

const UP = 'The monitor is up · Picket'
const DOWN = '1 down · Picket'

export const OUTAGE_FLOWS: Flows = {
  async 'a person claims an account, monitors a target, adds a channel and is alerted when the target breaks'(
    t,
    scene,
  ) {
    const { tab, call, picket, origin, target, receiver } = scene
    const [member] = await call('get', '/members')
    const { claim_url: claimUrl } = await call('post', `/members/${member.id}/claim-link`)
    await tab.open(origin + new URL(claimUrl).pathname)
    await tab.fill('Password', PERSON_PASSWORD)
    await tab.click('main button')
    await tab.waitForPath('/')
    await tab.waitForText(/Nothing is monitored yet/)
    await tab.waitUntil(`document.querySelector('button.search:enabled')`)
    await tab.fill('What should be monitored?', target.url)
    await tab.press('Enter')
    await tab.waitForText(/3 up of 3 regions\. Nothing was saved\./)
    await tab.click('button', 'Create the monitor')
    await tab.waitForText(/This is the first verdict\./)
    t.same(await findAccessibilityProblems(tab), [], 'the first verdict')
    await tab.click('a', 'Next: who is alerted?')
    await tab.fill('Address', receiver.url)
    await tab.click('button', 'Send a test')
    await tab.waitForText(/The receiver accepted the message\./)
    await tab.click('button', 'Create the channel')
    await tab.waitForText(/Webhook is alerted about 1 monitor\./)
    await tab.click('button', 'I have copied it')
    await tab.waitForText(/An example\. Nothing of it is saved/)
    const before = receiver.received.length
    await tab.click('a', 'Go to the overview')
    await tab.waitForText(/The monitor is up/)
    const [monitor] = await call('get', '/monitors')
    target.behave({ kind: 'answer', status: 503 })
    await tab.click('nav a', 'Monitors')
    await tab.click('main a', monitor.name)
    await tab.click('button', 'Check now')
    const alerts = await receiver.waitFor(before + 1)
    t.match(alerts.at(-1)!.json, { event: 'monitor.down', data: { monitor: { id: monitor.id } } })
    await tab.waitForText(/Open incident/)
    t.same(await findAccessibilityProblems(tab), [], 'the monitor that is down')
    t.equal((await picket.api.get('/incidents')).body.meta.total, 1)
  },

  async 'the explanation on the page of a monitor is that of the API'(t, { tab, call, open }) {
    const [{ id }] = await call('get', '/monitors')
    await open(`/monitors/${id}`)
    const [{ explanation, summary }] = await call('get', `/monitors/${id}/transitions`)
    const { counts, quorum, thresholds, votes } = explanation
    const text = await tab.readText('#transitions .explanation')
    t.match(text, `${quorum.needed} of ${quorum.regions} votes needed`)
    t.match(text, `${thresholds.failures_in_a_row} failures in a row each`)
    t.match(text, `${counts.failing} of ${quorum.regions} regions are failing`)
    for (const { region } of votes) t.match(text, region)
    t.equal(await tab.readText('.because'), summary)
  },

  async 'without scripts an incident is acknowledged and updated'(t, { tab, call, origin, proxy }) {
    const [{ id }] = await call('get', '/incidents')
    proxy.forbidScripts(true)
    await tab.open(`${origin}/incidents/${id}`)
    await tab.click('button', 'Acknowledge')
    await tab.waitForText(/Acknowledged by you/)
    await tab.fill('Message', 'The provider is informed.')
    await tab.click('button', 'Add the update')
    await tab.waitForText(/What happened.* by you public The provider is informed\./)
    t.equal(await tab.read(`document.querySelector('button.search:enabled')`), null, 'the script did not run')
    proxy.forbidScripts(false)
    t.match(await call('get', `/incidents/${id}`), { acknowledged_at: /^20/ })
    await tab.read('(window.faults = []).length')
  },

  async 'a target comes back and breaks: title, row and page change without a reload'(t, scene) {
    const { tab, call, open, target, db } = scene
    await open('/')
    await tab.read('window.mark = 1')
    t.equal(await tab.read('document.title'), DOWN)
    const [{ id }] = await call('get', '/monitors')
    const isTitle = (title: string) => `document.title === ${JSON.stringify(title)}`
    const check = () => call('post', `/monitors/${id}/check`)
    target.behave({ kind: 'answer' })
    await check()
    await tab.waitUntil(isTitle(UP))
    await tab.waitForNoText(/1 down/)
    target.behave({ kind: 'answer', status: 503 })
    await check()
    await tab.waitUntil(isTitle(DOWN))
    await tab.waitForText(/1 down.*503/)
    t.equal(await tab.read('window.mark'), 1, 'the page was not loaded again')
    t.same(await findAccessibilityProblems(tab), [], 'the overview')
    target.behave({ kind: 'answer' })
    await db.raw('SELECT 1')
  },

  async 'a channel that fails has a banner and is resumed, and a failed delivery is sent again'(t, scene) {
    const { tab, call, open, db } = scene
    const { project } = await call('get', '/me')
    const config = { url: 'http://127.0.0.1:9/hook' }
    const { id } = await call('post', '/alerts/channels', { name: 'Pager', type: 'webhook', config })
    const { incidentId, deliveryId } = await insertOutage(db, project.id, id, 'Payments')
    const failed = Array.from({ length: PAUSE_AFTER_FAILURES }, () => ({ channelId: id, succeeded: false }))
    await db.transaction(tx => recordChannelResults(tx, failed, new Date()))
    await open('/settings/channels')
    await tab.waitForText(/50 deliveries in a row failed; resume the channel when its receiver works again/)
    t.same(await findAccessibilityProblems(tab), [], 'the banner')
    await tab.click('button', 'Resume Pager')
    await tab.waitForNoText(/50 deliveries in a row failed/)
    t.match(await call('get', `/alerts/channels/${id}`), { is_paused: false, consecutive_failures: 0 })
    await open(`/incidents/${incidentId}`)
    await tab.click('a', 'Receipt of Monitor down to Pager')
    await tab.waitForPath(`/log/${deliveryId}`)
    await tab.waitForText(/HTTP 503.*<b>no capacity<\/b>/)
    await tab.click('button', 'Send again')
    await tab.waitForText(/It can be sent again when it has ended\./)
    await call('delete', `/alerts/channels/${id}`)
  },

  async 'hostile texts of people are shown as text'(t, { tab, call, open, db }) {
    const { project } = await call('get', '/me')
    const name = `${TEXT_ATTACKS.slice(0, 5).join(' ').slice(0, 100)} ${'W'.repeat(150)}`
    const id = await insertMonitor(db, project.id, { name })
    for (const path of ['/monitors', `/monitors/${id}`, `/monitors?q=${encodeURIComponent(TEXT_ATTACKS[1]!)}`]) {
      await open(path)
      t.equal(await tab.read('window.hit'), null, path)
      t.equal(
        await tab.read(`document.querySelectorAll('main :is(script, iframe, style, base, link, meta)').length`),
        0,
      )
      t.equal(await tab.read(`document.querySelectorAll('[onerror], [onload], [onfocus], [style]').length`), 0, path)
      await tab.expectNoFaults()
    }
    await open(`/monitors/${id}`)
    t.equal(await tab.read(`document.querySelector('h1').textContent`), name)
    await call('delete', `/monitors/${id}`)
  },
}
