import type { Decision, HistoryReason, MonitorState, StoreTiming } from '../types.ts'

/** The decision about a result that changes no status and is not reported to regions or probes. */
export function createNeutralDecision(
  kind: Decision['kind'],
  reason: HistoryReason | null,
  state: MonitorState,
  store: StoreTiming,
): Decision {
  return { kind, reason, state, store, transition: null, ask: null, regionState: null, disagreement: null }
}
