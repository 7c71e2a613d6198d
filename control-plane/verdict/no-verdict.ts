import type { Decision, HistoryReason, MonitorState, Storing } from './types.ts'

/** A result that changes no status, and of which no region or probe has to hear. */
export function noVerdict(
  kind: Decision['kind'],
  reason: HistoryReason | null,
  state: MonitorState,
  store: Storing,
): Decision {
  return { kind, reason, state, store, transition: null, ask: null, regionState: null, disagreement: null }
}
