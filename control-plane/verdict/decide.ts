import type { Counted, Decision, MonitorState, Policy } from './types.ts'

/**
 * One result against what is known of its monitor. `nowMs` is the JetStream time of the message, the only clock.
 */
export function decide(_state: MonitorState, _observation: Counted, _policy: Policy, _nowMs: number): Decision {
  throw new Error('being written')
}
