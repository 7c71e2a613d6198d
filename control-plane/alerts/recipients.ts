import type { EventName } from '../events/catalog.ts'

type Event = { name: EventName; data: object }
type Rule = { alertChannelId: string; onDown: boolean; onRecovery: boolean; onDegraded: boolean }

/**
 * The channels that hear of a monitor's event, given the rules of that monitor (specification, "Subscription").
 * A recovery from `degraded` alone, known by its empty `down_duration`, goes only to rules that heard of the
 * degradation too (decisions 4.5); expiry events go to every channel with a rule (decisions 6.5).
 */
export function recipients(event: Event, rules: Rule[]): string[] {
  const wants = WANTS[event.name]
  if (!wants) return []
  return [...new Set(rules.filter(rule => wants(rule, event)).map(rule => rule.alertChannelId))]
}

const WANTS: Partial<Record<EventName, (rule: Rule, event: Event) => boolean>> = {
  'monitor.down': rule => rule.onDown,
  'monitor.up': (rule, event) => rule.onRecovery && (endsAnOutage(event) || rule.onDegraded),
  'monitor.degraded': rule => rule.onDegraded,
  'monitor.ssl_expiry': () => true,
  'monitor.domain_expiry': () => true,
}

function endsAnOutage(event: Event): boolean {
  return 'down_duration' in event.data && event.data.down_duration !== null
}
