import t from 'tap'
import { getChannelKind } from '../../../control-plane/alerting/channels/registry.ts'
import { DIGEST_EVENT } from '../../../control-plane/alerting/events/digest.ts'
import { toSettingsChange } from '../../../control-plane/dashboard/screens/alerts/settings/alert-settings.tsx'
import { readMarkup } from '../../../control-plane/dashboard/screens/alerts/settings/chat-message.tsx'
import {
  buildSampleMessage,
  LAYOUTS,
} from '../../../control-plane/dashboard/screens/alerts/settings/message-content.ts'
import { messagesScreen } from '../../../control-plane/dashboard/screens/alerts/settings/messages.tsx'
import { buildSampleDigest, PREVIEWS } from '../../../control-plane/dashboard/screens/alerts/settings/sample-events.ts'
import { listReminders } from '../../../control-plane/dashboard/screens/setup/monitors/alert-rules.tsx'
import { NOW_MS, renderScreen } from '../../support/render-screen.ts'

const ORIGIN = 'https://picket.example.com'
const CHATS = ['chat_a', 'chat_b', 'chat_c'] as const
const CONFIG = { webhook_url: 'https://chat.example.com/x' }

t.test('A preview is the message that the channel sends, for every event and chat', async t => {
  for (const name of PREVIEWS) {
    const { envelope, notice, changes } = buildSampleMessage(name, ORIGIN, NOW_MS)
    const reminder = name === 'reminder' ? { number: 2, downFor: '1 hour 4 minutes' } : null
    const context = { publicUrl: ORIGIN, reminder }
    for (const type of CHATS) {
      const kind = getChannelKind(type)
      const sent = envelope
        ? kind.render(envelope, CONFIG, context)
        : kind.renderDigest!(buildSampleDigest(ORIGIN, NOW_MS), CONFIG, context)
      // the topic of a vendor is a hash, which no reader sees
      const withoutTopic = (text: string) => text.replace(/vendor:[0-9a-z]+/g, 'vendor')
      const preview = JSON.stringify(LAYOUTS[type](notice, changes, 0))
      t.equal(withoutTopic(preview), withoutTopic(sent.body.toString()), `${name} in ${type}`)
    }
    if (!envelope) continue
    const mail = JSON.parse(
      getChannelKind('email')
        .render(envelope, { to: ['ann@example.com'] }, context)
        .body.toString(),
    )
    t.equal(mail.subject, notice.title, `${name} in an email`)
  }
})

t.test('The page of messages shows the chosen event for each kind of channel', async t => {
  for (const event of PREVIEWS) {
    const { text, html } = renderScreen(messagesScreen, { answers: {}, search: `event=${event}` })
    t.match(text, event === DIGEST_EVENT ? /receives each change separately/ : /api_version/)
    t.notMatch(html, / style=/, 'the policy of the page allows no inline styles')
    const shown = html.replace(/<details[\s\S]*?<\/details>/g, '')
    t.notMatch(shown, /undefined|\[object|&lt;!date|\*\*/)
  }
  const { text } = renderScreen(messagesScreen, { answers: {}, search: 'event=monitor.up&channel_type=chat_b' })
  t.match(text, /Shop is up again/)
  t.notMatch(text, /api_version/)
})

t.test('Markup of chats is shown as its readers see it', async t => {
  for (const [markup, shown] of [
    [
      '<!date^1795270327^{date_short_pretty}, {time}|21 Nov 2026, 14:12 UTC> · Picket',
      '21 Nov 2026, 14:12 UTC · Picket',
    ],
    ['*Address*', 'Address'],
    ['[Acknowledge](https://picket.example.com/i/1#a) · [Open](https://picket.example.com/)', 'Acknowledge · Open'],
    ['**down** [Shop](https://picket.example.com/) · 14:12', 'down Shop · 14:12'],
    ['2\\.4 s \\[slow\\]', '2.4 s [slow]'],
    ['a &lt;b&gt; &amp; c', 'a <b> & c'],
  ] as const) {
    t.equal(readMarkup(markup), shown)
  }
})

t.test('The form of alert settings sends what differs', async t => {
  const stored = {
    ...{ id: 's1', is_digest_enabled: true, digest_threshold: 10, on_call_user_id: null },
    ...{ created_at: '2026-11-21T14:00:00.000Z', updated_at: '2026-11-21T14:00:00.000Z' },
  }
  const form = { isEnabled: true, threshold: '10', onCall: '' }
  t.equal(toSettingsChange(stored, form), null)
  t.same(toSettingsChange(stored, { ...form, threshold: '5' }), { digest_threshold: 5 })
  t.same(toSettingsChange(stored, { ...form, isEnabled: false }), { is_digest_enabled: false })
  t.same(toSettingsChange({ ...stored, on_call_user_id: 'u1' }, form), { on_call_user_id: null })
})

t.test('The choices of a reminder contain the stored one', async t => {
  t.same(listReminders(null).slice(0, 3), [
    ['', 'never'],
    ['5', 'every 5 min'],
    ['15', 'every 15 min'],
  ])
  t.ok(listReminders(45).some(([minutes, name]) => minutes === '45' && name === 'every 45 min'))
})
