import t from 'tap'
import { matchScreen, screen } from '../../../control-plane/dashboard/core/screen.ts'
import { findUnit } from '../../../control-plane/dashboard/parts/forms/duration-field.tsx'
import { buildFormErrors, listOtherMessages } from '../../../control-plane/dashboard/parts/forms/field-errors.ts'
import { SCREENS } from '../../../control-plane/dashboard/screens/index.ts'
import { FirstMinute } from '../../../control-plane/dashboard/screens/overview/first-minute.tsx'
import { channelSettingsScreen } from '../../../control-plane/dashboard/screens/setup/channels/channel-settings.tsx'
import { newChannelScreen } from '../../../control-plane/dashboard/screens/setup/channels/new-channel.tsx'
import { monitorSettingsScreen } from '../../../control-plane/dashboard/screens/setup/monitors/monitor-settings.tsx'
import { newMonitorScreen } from '../../../control-plane/dashboard/screens/setup/monitors/new-monitor.tsx'
import { MASK } from '../../../shared/secret-names.ts'
import { STORED_CHANNEL, STORED_MONITOR } from '../../support/form-records.ts'
import { buildList, renderScreen } from '../../support/render-screen.ts'

const REGIONS = buildList([
  { region: 'us-east', name: 'US East', is_live: true, live_probes: 1, no_live_probe_since: null },
  { region: 'eu-west', name: 'EU West', is_live: false, live_probes: 0, no_live_probe_since: null },
])
const settings = (part: object = {}, scope: 'read' | 'write' = 'write', rules: object[] = []) =>
  renderScreen(monitorSettingsScreen, {
    answers: {
      monitor: { data: { ...STORED_MONITOR, ...part } },
      regions: REGIONS,
      rules: buildList(rules),
      channels: buildList([STORED_CHANNEL]),
      parents: { data: { monitor_id: STORED_MONITOR.id, parent_ids: [], parents: [] } },
    },
    params: { id: STORED_MONITOR.id },
    scope,
  })

t.test('The forms have addresses of their own, not those of records', async t => {
  const found = (path: string) => matchScreen(SCREENS, path)?.screen.path
  t.equal(found('/monitors/new'), '/monitors/new')
  t.equal(found(`/monitors/${STORED_MONITOR.id}`), '/monitors/:id')
  t.equal(found(`/monitors/${STORED_MONITOR.id}/settings`), '/monitors/:id/settings')
  t.equal(found('/settings/channels/new'), '/settings/channels/new')
  t.equal(found(`/settings/channels/${STORED_CHANNEL.id}`), '/settings/channels/:id')
})

t.test('The form of a new monitor shows few fields, the guarantee, and a call of the API', async t => {
  const { html, text } = renderScreen(newMonitorScreen, {
    answers: { regions: REGIONS },
    search: 'url=shop.example.com',
  })
  t.match(html, /<fieldset[^>]* disabled/, 'nothing can be typed before the scripts run')
  t.match(html, /value="https:\/\/shop\.example\.com"/)
  t.match(html, /name="name"[^>]*value="shop\.example\.com"|value="shop\.example\.com"[^>]*name="name"/)
  t.match(text, /EU West no probe now/)
  t.match(text, /when the target refuses connections after 1 min 7 s/)
  t.match(text, /Only us-east checks, so a network fault/)
  t.match(text, /needs scripts, which this browser does not run/)
  t.match(text, /curl -s -X POST/)
  t.notMatch(html, / style=| onclick=/)
})

t.test('The regions are shown by their codes while they cannot be read', async t => {
  const { text } = renderScreen(newMonitorScreen, { answers: { regions: new Error('no database') } })
  t.match(text, /us-east us-west eu-west/)
  t.notMatch(text, /no probe now/)
})

t.test('A copy says which secrets have to be typed again', async t => {
  const answers = { regions: REGIONS, copied: { data: STORED_MONITOR } }
  const { html, text } = renderScreen(newMonitorScreen, { answers, search: `copy=${STORED_MONITOR.id}` })
  t.match(html, /Checkout \(copy\)/)
  t.match(text, /Secrets are not copied/)
  t.notMatch(html, /\*{8}/)
})

t.test('The settings of a monitor show what is stored, with masks and fixed fields', async t => {
  const { html, text } = settings({ screenshot_compare: true })
  t.ok(html.includes(MASK))
  t.match(text, /Share of pixels that may differ 5 % Fixed\. A copy can have another one\./)
  t.match(text, /No alerts are sent about this monitor/)
  t.match(html, new RegExp(`href="/monitors/new\\?copy=${STORED_MONITOR.id}"`))
  t.match(text, /Type Checkout to delete the monitor/)
  t.match(settings({ is_paused: true }).text, /Resume the monitor/)
  const rule = { id: 'r', monitor_id: STORED_MONITOR.id, alert_channel_id: STORED_CHANNEL.id, on_down: true }
  t.notMatch(settings({}, 'write', [rule]).text, /No alerts are sent/)
})

t.test('A heartbeat has fixed times, and a monitor of a data source only a name and tags', async t => {
  const beat = settings({ type: 'heartbeat', url: null, heartbeat_interval: 86_400 })
  t.match(beat.text, /Ping interval 1 d Fixed/)
  t.match(beat.text, /Down after 1 d and 1 min without a ping/)
  t.notMatch(beat.html, /name="url"|name="interval_seconds"/)
  const child = settings({ data_source: { id: 'd', name: 'Vendor', field_id: null, key: 'k' } })
  t.match(child.text, /The data source “Vendor” decides what is checked/)
  t.notMatch(child.html, /name="url"/)
})

t.test('Viewers see the settings without anything that changes them', async t => {
  const { text, html } = settings({}, 'read')
  t.match(text, /Changing the settings needs the role editor/)
  t.match(html, /shop\.example\.com\/checkout/)
  for (const word of ['Save the changes', 'Pause', 'Delete', 'Make a copy', 'Try it']) t.notMatch(text, word)
  const none = { answers: { unalerted: buildList([]) }, scope: 'read' as const }
  t.match(renderScreen(newChannelScreen, none).text, /Creating a channel needs the role editor/)
  t.match(
    renderScreen(newMonitorScreen, { ...none, answers: { regions: REGIONS } }).text,
    /Creating a monitor needs the role editor/,
  )
  const channel = renderScreen(channelSettingsScreen, { ...none, answers: { channel: { data: STORED_CHANNEL } } })
  for (const word of ['Save', 'Send a test', 'Rotate', 'Delete']) t.notMatch(channel.text, word)
})

t.test(
  'A channel shows its state: paused with the reason, addresses that are not confirmed, the installed app',
  async t => {
    const none = { rules: buildList([]), subscriptions: buildList([]), deliveries: buildList([]) }
    const open = (part: object) =>
      renderScreen(channelSettingsScreen, { answers: { channel: { data: { ...STORED_CHANNEL, ...part } }, ...none } })
    const paused = { is_paused: true, paused_at: '2026-11-21T14:00:00Z', paused_reason: '10 failures in a row' }
    t.match(open(paused).text, /Paused since .*: 10 failures in a row\. Nothing is sent.*Resume the channel/)
    const address = { address: 'a@example.com', status: 'unconfirmed', confirmation_sent_at: null }
    const mail = { type: 'email', config: { to: ['a@example.com'] }, signing_secret: null, email_addresses: [address] }
    t.match(open(mail).text, /a@example\.com not confirmed: alerts are not sent to it/)
    t.notMatch(open(mail).text, /Signing secret/)
    const app = { type: 'chat_a', config: { installation_id: 'i', channel_id: 'C1', channel_name: 'ops' } }
    t.match(open(app).text, /Sent by the installed chat app Channel ops/)
    t.notMatch(open(app).html, /webhook_url/)
  },
)

t.test('An empty installation asks for an address, which the first step gets', async t => {
  const first = screen({ path: '/', area: 'overview', queries: () => ({}), title: () => 'Overview', Body: FirstMinute })
  const { html, text } = renderScreen(first, { answers: {} })
  t.match(text, /What should be monitored\?/)
  t.match(html, /<form[^>]*action="\/start"[^>]*method="get"/)
  t.match(html, /name="url"/)
  t.notMatch(renderScreen(first, { answers: {}, scope: 'read' }).html, /<form/)
})

t.test('Errors belong to their fields, and everything else is shown once', async t => {
  const details = [
    { path: 'assertions[0].value', message: 'a' },
    { path: 'regions', message: 'b' },
    { path: 'other', message: 'c' },
  ]
  const errors = buildFormErrors(details)
  t.same(errors.at('regions'), ['b'])
  t.ok(errors.isBelow(['assertions']))
  t.notOk(errors.isBelow(['region', 'assertion', 'url']))
  const error = { status: 400, code: 'validation_error', message: 'a; b; c' }
  t.same(listOtherMessages({ ...error, details }, ['assertions', 'regions']), ['c'])
  t.same(listOtherMessages(error, ['regions']), ['a; b; c'])
})

t.test('Durations have their largest whole unit', async t => {
  t.same(['90', '120', '7200', '86400', '0', ''].map(findUnit), [0, 1, 2, 3, 0, 0])
})
