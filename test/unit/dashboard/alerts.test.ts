import { spawnSync } from 'node:child_process'
import t from 'tap'
import { EVENT_NAMES } from '../../../control-plane/alerting/events/catalog.ts'
import { toPostCommand } from '../../../control-plane/dashboard/core/api-call/curl.ts'
import { channelListScreen } from '../../../control-plane/dashboard/screens/alerts/channel-list.tsx'
import { deliveryScreen } from '../../../control-plane/dashboard/screens/alerts/delivery.tsx'
import { deliveryListScreen } from '../../../control-plane/dashboard/screens/alerts/delivery-list.tsx'
import { nameEvent } from '../../../control-plane/dashboard/screens/alerts/delivery-words.tsx'
import { buildList, renderScreen } from '../../support/render-screen.ts'

const CHANNEL = {
  ...{ id: '01900000-0000-7000-8000-000000000003', name: 'Operations', type: 'webhook', is_default: true },
  ...{ config: { url: 'https://hooks.example.com/********' }, email_addresses: null, signing_secret: '********' },
  ...{ is_paused: false, paused_at: null, paused_reason: null, consecutive_failures: 0 },
  ...{ created_at: '2026-11-21T14:02:07Z', updated_at: '2026-11-21T14:02:07Z' },
}
const PAUSED = {
  ...{ ...CHANNEL, id: '01900000-0000-7000-8000-000000000004', name: 'Old pager', is_default: false },
  ...{ is_paused: true, paused_at: '2026-11-21T14:02:07Z', paused_reason: '50 deliveries in a row failed' },
}
const attempt = (error: string | null, code: number | null, answer: string | null = null) => ({
  ...{ at: '2026-11-21T14:02:08Z', response_code: code, duration_ms: 34, error, response_snippet: answer },
})
const DELIVERY = {
  ...{ id: 'whd_1', delivery_id: 'whd_1', alert_channel_id: CHANNEL.id, channel_id: CHANNEL.id },
  ...{ event: 'monitor.down', status: 'delivered', attempts: [attempt(null, 204)], attempts_left_out: 0 },
  ...{ request_url: 'https://hooks.example.com/x', request_headers: { 'X-Api-Key': '********' } },
  ...{ about: { type: 'monitor', id: 'm1', name: 'Shop' } },
  ...{ request_body: '{"event":"monitor.down"}' },
  ...{ created_at: '2026-11-21T14:02:07Z', updated_at: '2026-11-21T14:02:08Z' },
}

type Options = { channels?: unknown; search?: string; scope?: 'read' | 'write'; rest?: Record<string, unknown> }

const renderLog = (log: unknown, { channels = buildList([CHANNEL]), search = '', rest = {} }: Options = {}) =>
  renderScreen(deliveryListScreen, { answers: { log, channels, ...rest }, search })

const renderDelivery = (delivery: object, { scope = 'write' }: Options = {}) =>
  renderScreen(deliveryScreen, {
    answers: { delivery: { data: delivery }, channels: buildList([CHANNEL]) },
    params: { id: 'whd_1' },
    scope,
  })

const renderChannels = (channels: unknown, { scope = 'write' }: Options = {}) =>
  renderScreen(channelListScreen, { answers: { channels }, scope })

t.test('The log shows for each delivery its status, channel, last answer and attempts', async t => {
  const failed = { ...DELIVERY, id: 'whd_2', status: 'failed', attempts: [attempt('timed out', null)] }
  const unsent = { ...DELIVERY, id: 'whd_3', status: 'pending', attempts: [] }
  const { text, html } = renderLog(buildList([DELIVERY, { ...failed, attempts_left_out: 11 }, unsent], 60))
  t.match(text, /Delivered Monitor down Shop Operations 204 in 34 ms 1 attempt 1 21 Nov 2026, 14:02:07 UTC/)
  t.match(text, /Failed Monitor down Shop Operations timed out 12 attempts 12 /)
  t.match(text, /Pending Monitor down Shop Operations not sent yet 0 attempts 0 /)
  t.match(html, 'href="/log/whd_2"')
  t.match(html, 'href="/log?page=2"')
})

t.test(
  'A delivery links to the monitor, incident or dependency that it is about, and a test is named as one',
  async t => {
    const rows: [about: object | null, event: string, title: RegExp, link: string | null][] = [
      [{ type: 'monitor', id: 'm1', name: 'Shop' }, 'monitor.down', /Monitor down to Operations/, '/monitors/m1'],
      [{ type: 'incident', id: 'i1', name: 'Late' }, 'incident.created', /Incident created to/, '/incidents/i1'],
      [{ type: 'vendor', id: 'd1', name: 'Cloud' }, 'vendor.down', /Vendor down to/, '/dependencies/d1'],
      [{ type: 'test', id: null, name: 'Test of it' }, 'monitor.down', /Test alert to Operations.*it is a test/, null],
      [null, 'digest', /About several events/, null],
    ]
    for (const [about, event, title, link] of rows) {
      const { text, html } = renderDelivery({ ...DELIVERY, about, event })
      t.match(text, title)
      t.equal(/href="(\/(?:monitors|incidents|dependencies)\/[^"]*)"/.exec(html)?.[1] ?? null, link)
    }
  },
)

t.test('The request of a delivery is shown as a command that sends exactly it', async t => {
  const url = "https://hooks.example.com/x?a=$HOME&b='[1-3]"
  const headers = { 'webhook-signature': 'v1,abc=', 'X-Empty': '', 'X-Note': 'it\'s `id` \\ "quoted" !' }
  const body = '{"text":"it\'s \\\\n $(id)\n@file"}\n'
  const { stdout } = spawnSync('sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${toPostCommand(url, headers, body)}`])
  t.same(stdout.toString().split('\0').slice(0, -1), [
    ...['-s', '-i', '-g', url],
    ...Object.entries(headers).flatMap(([name, value]) => ['-H', value === '' ? `${name};` : `${name}: ${value}`]),
    ...['--data-raw', body],
  ])
  const { text } = renderDelivery(DELIVERY)
  t.match(text, "curl -s -i -g 'https://hooks.example.com/x'")
  t.match(text, 'Replace ******** by the secrets')
  t.notMatch(text, 'refuses an old one', 'it is not signed')
  const signed = renderDelivery({ ...DELIVERY, request_headers: { 'webhook-signature': 'v1,abc=' } }).text
  t.match(signed, 'A receiver that checks the time of the signature refuses an old one: then use “Send again”.')
  t.notMatch(signed, 'Replace ****')
  t.notMatch(renderDelivery({ ...DELIVERY, request_url: 'mailto:ops@example.com' }).text, 'curl -s -i')
})

t.test('The links and fields of the log contain its filters', async t => {
  const search = `status=failed&alert_channel_id=${PAUSED.id}&incident_id=i1&page=2`
  const incident = { data: { title: 'Checkout is down' } }
  const { text, html } = renderLog(buildList([DELIVERY], 80, 2), { search, rest: { incident } })
  t.match(html, `status=failed&amp;alert_channel_id=${PAUSED.id}&amp;incident_id=i1&amp;page=3`)
  t.match(html, '<option value="failed" selected>')
  t.match(text, /Channel 01900000/, 'a channel that is not known can be kept')
  t.match(text, /Incident Checkout is down/)
  t.match(html, /type="hidden" name="incident_id" value="i1"/)
  t.match(renderLog(buildList([]), { search }).text, /No delivery matches these filters\./)
  t.match(renderLog(buildList([])).text, /Nothing was sent yet\./)
  t.match(renderLog(new Error('try again')).text, /The deliveries cannot be shown: try again\./)
})

t.test('Every event has a name', async t => {
  for (const event of EVENT_NAMES) t.match(nameEvent(event), /^[A-Z][a-z]+ [a-z][a-z ]*$/, event)
})

t.test('A delivery shows its attempts, the request with line breaks, and can be sent again', async t => {
  const attempts = [attempt('HTTP 503', 503, 'no <b>capacity</b>'), attempt(null, 204)]
  const { text, html } = renderDelivery({ ...DELIVERY, attempts })
  t.match(text, /Monitor down to Operations Delivered\. The receiver accepted it\./)
  t.match(text, /1 21 Nov 2026, 14:02:08 UTC 503 34 ms HTTP 503 Answer, first 18 characters/)
  t.match(text, /2 21 Nov 2026, 14:02:08 UTC 204 34 ms/)
  t.match(text, /POST https:\/\/hooks\.example\.com\/x .*X-Api-Key \*{8}/)
  t.match(html, '{\n  &quot;event&quot;: &quot;monitor.down&quot;\n}')
  t.notMatch(html, '<b>capacity')
  t.match(html, 'action="/log/whd_1/retry"')
})

t.test('Attempts that the log does not keep are counted', async t => {
  const attempts = Array.from({ length: 13 }, () => attempt('HTTP 503', 503))
  const { text } = renderDelivery({ ...DELIVERY, attempts, attempts_left_out: 7 })
  t.match(text, / 3 21 Nov .* 7 attempts in between.* 11 21 Nov .* 20 21 Nov /)
})

t.test('A delivery that waits, was not written, or is seen by a viewer cannot be sent again', async t => {
  const waiting = { ...DELIVERY, status: 'pending', attempts: [], request_url: null, request_body: null }
  const { text, html } = renderDelivery({ ...waiting, request_headers: null })
  t.match(text, /It can be sent again when it has ended\./)
  t.match(text, /There was no attempt yet\..*There is no request yet/)
  t.notMatch(html, '/retry')
  const seenByViewer = renderDelivery(DELIVERY, { scope: 'read' }).html
  t.notMatch(seenByViewer, /<form|\/retry/)
  t.same(seenByViewer.match(/<button[^>]*>[^<]*/g), ['<button type="button" disabled>Copy'], 'only that of the command')
  const mail = { ...DELIVERY, request_url: 'oncall@example.com', request_body: 'Checkout is down' }
  t.match(renderDelivery(mail).text, /To oncall@example\.com .*Body Checkout is down/)
})

t.test('A paused channel has a banner with its reason and can be resumed', async t => {
  const { text, html } = renderChannels(buildList([CHANNEL, PAUSED]))
  t.match(text, /Old pager is paused since 21 Nov 2026, 14:02:07 UTC: 50 deliveries in a row failed\. Its deliveries/)
  t.match(html, `action="/settings/channels/${PAUSED.id}/resume"`)
  t.match(html, `href="/log?alert_channel_id=${PAUSED.id}&amp;status=skipped"`)
  t.notMatch(html, `action="/settings/channels/${PAUSED.id}/test"`, 'a paused channel cannot be tested')
  t.match(html, `action="/settings/channels/${CHANNEL.id}/test"`)
  t.match(html, `href="/log?alert_channel_id=${CHANNEL.id}"`)
  t.notMatch(renderChannels(buildList([CHANNEL, PAUSED]), { scope: 'read' }).html, /<form|<button/)
})

t.test('A channel shows its type, target, default, failures and addresses without confirmation', async t => {
  const address = (name: string, status: string) => ({ address: name, status, confirmation_sent_at: null })
  const mail = {
    ...{ ...CHANNEL, name: 'On call', type: 'email', is_default: false, consecutive_failures: 3 },
    email_addresses: [address('a@example.com', 'confirmed'), address('b@example.com', 'unconfirmed')],
  }
  const { text } = renderChannels(buildList([CHANNEL, mail]))
  t.match(text, /Operations Webhook, https:\/\/hooks\.example\.com\/\*{8} · default for new monitors/)
  t.match(text, /On call Email, a@example\.com, b@example\.com The last 3 deliveries failed\./)
  t.match(text, /Not confirmed yet, so no alerts go there: b@example\.com\./)
  const once = { ...CHANNEL, consecutive_failures: 1 }
  t.match(renderChannels(buildList([once])).text, /The last delivery failed\./)
})

t.test('Without channels the page says what that means', async t => {
  t.match(renderChannels(buildList([])).text, /There is no channel\. Without one, no alert about an outage is sent\./)
  t.match(renderChannels(new Error('try again')).text, /The channels cannot be shown: try again\./)
})
