import t from 'tap'
import { matchScreen } from '../../../control-plane/dashboard/core/screen.ts'
import { SCREENS } from '../../../control-plane/dashboard/screens/index.ts'
import { describeAlertAll } from '../../../control-plane/dashboard/screens/setup/start/alert-all.ts'
import { buildOutageExample } from '../../../control-plane/dashboard/screens/setup/start/outage-example.ts'
import {
  keepTypedAddress,
  takeTypedAddress,
} from '../../../control-plane/dashboard/screens/setup/start/typed-address.ts'
import { buildChannel, buildList, buildMonitor } from '../../support/dashboard-answers.ts'
import { ADMIN, NOW, VIEWER } from '../../support/dashboard-fixtures.ts'
import { renderScreen, type ScreenState, toText } from '../../support/dashboard-screens.tsx'

const { id: ID } = buildMonitor()
const show = (address: string, state: ScreenState = {}) => {
  const { html } = renderScreen(address, state)
  return { html, text: toText(html) }
}

t.test('Every page says how many active monitors have no alert channel, with an action for editors only', t => {
  for (const path of ['/', '/monitors', `/monitors/${ID}`, '/settings/channels']) {
    const one = show(path, { unalerted: 1 })
    t.match(
      one.text,
      '1 active monitor has no alert channel: no alert is sent about an outage. Choose who is alerted',
      path,
    )
    t.match(one.html, 'href="/monitors/unalerted#alert"')
    t.notMatch(show(path).text, 'no alert channel', path)
  }
  const viewer = show('/', { unalerted: 1_200, me: VIEWER })
  t.match(viewer.text, '1,200 active monitors have no alert channel')
  t.match(viewer.html, 'href="/monitors/unalerted"')
  t.notMatch(viewer.text, 'Choose who is alerted')
  t.end()
})

t.test('The monitors without an alert channel are listed, and a channel can be chosen for all of them', t => {
  const monitors = buildList([buildMonitor({ name: 'Shop' })], 60)
  const pager = buildChannel({ id: 'c2', name: 'Pager', is_default: false })
  const channels = buildList([buildChannel({ is_paused: true, name: 'Old' }), pager])
  const { html, text } = show('/monitors/unalerted', {
    answers: { listMonitors: monitors, listAlertChannels: channels },
  })
  t.match(text, 'Alert it about 60 monitors')
  t.match(text, 'Also alert it about every new monitor')
  t.match(html, '<option value="c2"')
  t.notMatch(html, '<option value="c1"', 'nothing is sent to a paused channel')
  t.match(html, `href="/monitors/${ID}"`)
  t.match(html, 'href="/monitors/unalerted?page=2"')
  t.match(text, '/api/v1/monitors/bulk-changes')
  const viewer = show('/monitors/unalerted', { me: VIEWER, answers: { listMonitors: monitors } })
  t.notMatch(viewer.html, /<form class="alert-choice|<button type="submit" class="main"/)
  const none = show('/monitors/unalerted', { answers: { listAlertChannels: buildList([]), listMonitors: monitors } })
  t.match(none.text, 'There is no channel yet. Add a channel')
  t.match(show('/monitors/unalerted').text, 'Every active monitor alerts at least one channel.')
  t.end()
})

t.test('The first step has one field, and a monitor that was created waits for its verdict', t => {
  const { html, text } = show('/start?url=shop.example.com')
  t.match(html, 'value="https://shop.example.com"')
  t.match(html, /<fieldset[^>]* disabled/, 'nothing can be sent before the scripts run')
  t.match(text, /Try it Create the monitor More settings/)
  t.match(html, 'href="/start?step=alerts">Skip this step')
  const waiting = show(`/start?monitor=${ID}`, {
    answers: { readMonitor: { data: buildMonitor({ status: null, status_changed_at: null }) } },
  })
  t.match(waiting.text, 'Waiting for the first checks')
  const done = show(`/start?monitor=${ID}`)
  t.match(done.text, 'Up This is the first verdict.')
  t.match(done.html, `href="/start?step=alerts&amp;monitor=${ID}"`)
  t.match(
    show('/start', { me: VIEWER }).text,
    'Creating monitors and channels needs the role editor. Your role is viewer.',
  )
  t.end()
})

t.test('The second step creates a channel for the monitors without one', t => {
  const answers = { listAlertChannels: buildList([]), listMonitors: buildList([], 2) }
  const { html, text } = show('/start?step=alerts', { answers })
  t.match(text, 'Alert this channel about 2 active monitors without a channel')
  t.match(html, 'name="alerts_all"')
  t.match(html, 'href="/start?step=outage">Skip this step')
  const existing = show('/start?step=alerts')
  t.match(existing.text, 'There is 1 channel . Another one can be added here.')
  t.notMatch(existing.html, 'name="alerts_all"')
  t.match(existing.text, 'Next: see an outage')
  t.end()
})

t.test('The third step shows an example and says that nothing is stored', t => {
  const { html, text } = show(`/start?step=outage&monitor=${ID}`)
  t.match(text, 'An example. Nothing of it is saved: no uptime, incident or status page changes')
  t.match(text, 'A message that is marked as a test goes to Operations')
  t.match(text, 'Shop is down example')
  t.match(text, '2 of 3 regions failed 3 checks in a row: us-east, eu-west (connection refused)')
  t.match(text, 'Acknowledged by you')
  t.notMatch(html, /href="\/(log|incidents)\/[^"]/, 'it has no links to records that do not exist')
  t.match(show('/start?step=outage', { answers: { listAlertChannels: buildList([]) } }).text, 'There is no channel')
  t.end()
})

t.test('The example is in the order of time, and its figures agree with each other', t => {
  const { timeline, incident } = buildOutageExample({ monitorId: ID, name: 'Shop', userId: ADMIN.user!.id }, NOW)
  const times = timeline.items.map(({ at }) => Date.parse(at))
  t.same(
    times,
    times.toSorted((a, b) => a - b),
  )
  t.ok(times.every(time => time < NOW))
  const down = timeline.items.find(item => item.kind === 'transition' && item.to === 'down')!
  t.equal(down.at, incident.started_at)
  const failed = timeline.items.filter(item => item.kind === 'check' && item.check.error !== null)
  t.equal(failed.length, 6, 'three failures of each of two regions')
  t.end()
})

t.test('The result of alerting a channel about all monitors names what was not changed', t => {
  const item = { monitor_id: '1', name: 'a', changes: [] }
  const error = { code: 'limit_exceeded', message: 'a monitor can have at most 20 alert rules' } as never
  const result = { dry_run: false, changed: 3, unchanged: 0, refused: 0, items: [], undo: null }
  t.equal(describeAlertAll('Ops', result), 'Ops is alerted about 3 monitors.')
  t.equal(
    describeAlertAll('Ops', {
      ...{ ...result, changed: 0, unchanged: 1, refused: 1 },
      items: [{ ...item, result: 'refused', error }],
    }),
    'Ops is alerted about 0 monitors. 1 monitor already had a rule of this channel that leaves out outages; change it at the monitor. 1 monitor could not be changed: a monitor can have at most 20 alert rules.',
  )
  t.end()
})

t.test('Only an address that was typed in this tab is tried without a click, and only once', t => {
  t.equal(takeTypedAddress('a.example'), false)
  keepTypedAddress('a.example')
  t.equal(takeTypedAddress('b.example'), false)
  t.equal(takeTypedAddress('a.example'), false, 'another address has used it up')
  keepTypedAddress('a.example')
  t.equal(takeTypedAddress('a.example'), true)
  t.equal(takeTypedAddress('a.example'), false)
  t.end()
})

t.test('The first steps have addresses of their own', t => {
  t.equal(matchScreen(SCREENS, '/start')?.screen.path, '/start')
  t.equal(matchScreen(SCREENS, '/monitors/unalerted')?.screen.path, '/monitors/unalerted')
  t.end()
})
