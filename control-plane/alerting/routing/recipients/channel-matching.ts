import type { EventName } from '../../events/catalog.ts'
import { type AlertType, getAlertType } from '../rules/subscription.ts'

type Event = { name: EventName; data: object }
type Rule = { alertChannelId: string; onDown: boolean; onRecovery: boolean; onDegraded: boolean }
type Subscription = { alertChannelId: string; alertType: AlertType }
type Override = { alertChannelId: string; onDown: boolean; onDegraded: boolean; onResolved: boolean }
/** Who might hear of an event: the rules of its monitor, the subscriptions of its project, the overrides of its vendor. */
export type Audience = { rules: Rule[]; subscriptions: Subscription[]; overrides: Override[] }

/**
 * The channels that hear of an event, each once (specification, "Subscription"): of a monitor's by rules, of incidents
 * and vendors by subscriptions, but a channel that has an override for the vendor by that. A recovery from `degraded` alone, known by its empty `down_duration`, goes only to rules
 * that were notified of the degradation too (decisions 4.5); expiry events and `monitor.unchecked` go to every channel with a rule (decisions 6.5).
 */
export function matchChannels(event: Event, { rules, subscriptions, overrides }: Audience): string[] {
  const alertType = getAlertType(event.name)
  const wants = RULE_MATCHERS[event.name]
  const ownTaste = new Set(overrides.map(({ alertChannelId }) => alertChannelId))
  const heardBy = [
    ...rules.filter(rule => wants?.(rule, event)),
    ...subscriptions.filter(one => one.alertType === alertType && !ownTaste.has(one.alertChannelId)),
    ...overrides.filter(override => OVERRIDE_MATCHERS[event.name]?.(override)),
  ]
  return [...new Set(heardBy.map(({ alertChannelId }) => alertChannelId))]
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
