import type { EventName } from '../../events/catalog.ts'
import { type AlertType, getAlertType } from '../rules/subscription.ts'

type Event = { name: EventName; data: object }
type Rule = { alertChannelId: string; onDown: boolean; onRecovery: boolean; onDegraded: boolean }
type Subscription = { alertChannelId: string; alertType: AlertType }
type Override = { alertChannelId: string; onDown: boolean; onDegraded: boolean; onResolved: boolean }
/** The possible recipients of an event: the rules of its monitor, the subscriptions of its project, the overrides of its vendor. */
export type Audience = { rules: Rule[]; subscriptions: Subscription[]; overrides: Override[] }

/**
 * The channels that receive an event, each once. Events of monitors are matched by rules (docs/design/alerting.md#rules),
 * those of incidents and vendors by subscriptions, and a channel with an override for the vendor by the override. A
 * recovery from `degraded` has no `down_duration`; it goes only to rules that send `monitor.degraded` too.
 */
export function matchChannels(event: Event, { rules, subscriptions, overrides }: Audience): string[] {
  const alertType = getAlertType(event.name)
  const matchesRule = RULE_MATCHERS[event.name]
  const overridden = new Set(overrides.map(({ alertChannelId }) => alertChannelId))
  const matching = [
    ...rules.filter(rule => matchesRule?.(rule, event)),
    ...subscriptions.filter(one => one.alertType === alertType && !overridden.has(one.alertChannelId)),
    ...overrides.filter(override => OVERRIDE_MATCHERS[event.name]?.(override)),
  ]
  return [...new Set(matching.map(({ alertChannelId }) => alertChannelId))]
}

const RULE_MATCHERS: Partial<Record<EventName, (rule: Rule, event: Event) => boolean>> = {
  'monitor.down': rule => rule.onDown,
  'monitor.up': (rule, event) => rule.onRecovery && (endsAnOutage(event) || rule.onDegraded),
  'monitor.degraded': rule => rule.onDegraded,
  'monitor.ssl_expiry': () => true,
  'monitor.domain_expiry': () => true,
  'monitor.unchecked': () => true,
}

const OVERRIDE_MATCHERS: Partial<Record<EventName, (override: Override) => boolean>> = {
  'vendor.down': override => override.onDown,
  'vendor.degraded': override => override.onDegraded,
  'vendor.resolved': override => override.onResolved,
}

function endsAnOutage(event: Event): boolean {
  return 'down_duration' in event.data && event.data.down_duration !== null
}
