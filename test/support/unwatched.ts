import type { MonitoringStateReader } from '../../control-plane/monitoring/monitors/responses/monitor-response.ts'

/** No history and no known probes. */
export const NO_HISTORY: MonitoringStateReader = async () => ({ lastCheckedAt: new Map(), liveTypes: null })
