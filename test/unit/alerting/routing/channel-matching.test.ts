import t from 'tap'
import type { EventName } from '../../../../control-plane/alerting/events/catalog.ts'
import { matchChannels } from '../../../../control-plane/alerting/routing/recipients/channel-matching.ts'

const rule = (alertChannelId: string, onDown: boolean, onRecovery: boolean, onDegraded: boolean) => ({
  alertChannelId,
  onDown,
  onRecovery,
  onDegraded,
})

const RULES = [
  rule('default', true, true, false),
  rule('everything', true, true, true),
  rule('down only', true, false, false),
  rule('degraded only', false, false, true),
  rule('nothing', false, false, false),
]

const ROWS: [title: string, event: { name: EventName; data: object }, channels: string[]][] = [
  [
    'monitor.down goes to rules with on_down',
    { name: 'monitor.down', data: {} },
    ['default', 'everything', 'down only'],
  ],
  [
    'monitor.degraded goes to rules with on_degraded',
    { name: 'monitor.degraded', data: {} },
    ['everything', 'degraded only'],
  ],
  [
    'monitor.up after an outage goes to rules with on_recovery',
    { name: 'monitor.up', data: { down_duration: '4 minutes' } },
    ['default', 'everything'],
  ],
  [
    'monitor.up after degraded alone goes to rules with on_degraded and on_recovery',
    { name: 'monitor.up', data: { down_duration: null } },
    ['everything'],
  ],
  [
    'an expiring certificate goes to every channel with a rule',
    { name: 'monitor.ssl_expiry', data: {} },
    RULES.map(one => one.alertChannelId),
  ],
  [
    'an expiring domain goes to every channel with a rule',
    { name: 'monitor.domain_expiry', data: {} },
    RULES.map(one => one.alertChannelId),
  ],
  [
    'a monitor that is not checked goes to every channel with a rule',
    { name: 'monitor.unchecked', data: {} },
    RULES.map(one => one.alertChannelId),
  ],
  [
    'incident events go to subscriptions, independent of rules',
    { name: 'incident.created', data: {} },
    ['incidents', 'both'],
  ],
  [
    'a resolved incident goes to the same subscriptions',
    { name: 'incident.resolved', data: {} },
    ['incidents', 'both'],
  ],
  ['vendor events go to subscriptions to dependencies', { name: 'vendor.down', data: {} }, ['vendors', 'both']],
]

const SUBSCRIPTIONS = [
  { alertChannelId: 'incidents', alertType: 'incident' as const },
  { alertChannelId: 'both', alertType: 'incident' as const },
  { alertChannelId: 'vendors', alertType: 'dependency_incident' as const },
  { alertChannelId: 'both', alertType: 'dependency_incident' as const },
]

for (const [title, event, channels] of ROWS) {
  t.test(title, async t =>
    t.same(matchChannels(event, { rules: RULES, subscriptions: SUBSCRIPTIONS, overrides: [] }), channels),
  )
}

t.test('A channel receives an event once', async t => {
  const twice = [rule('a', true, true, true), rule('a', true, false, false)]
  t.same(matchChannels({ name: 'monitor.down', data: {} }, { rules: twice, subscriptions: [], overrides: [] }), ['a'])
})

const override = (alertChannelId: string, onDown: boolean, onDegraded: boolean, onResolved: boolean) => ({
  alertChannelId,
  onDown,
  onDegraded,
  onResolved,
})
const OVERRIDES = [override('vendors', false, false, false), override('pager', true, false, true)]
const OF_VENDORS: [name: EventName, channels: string[]][] = [
  ['vendor.down', ['both', 'pager']],
  ['vendor.degraded', ['both']],
  ['vendor.resolved', ['both', 'pager']],
  ['incident.created', ['incidents', 'both']],
]
for (const [name, channels] of OF_VENDORS) {
  t.test(`${name} goes to a channel by its override for the vendor, with or without a subscription`, async t => {
    const audience = { rules: [], subscriptions: SUBSCRIPTIONS, overrides: OVERRIDES }
    t.same(matchChannels({ name, data: {} }, audience), channels)
  })
}
