import type { MonitoringStateReader } from '../../control-plane/monitoring/monitors/responses/monitor-response.ts'

/** No history and no known probes. */
export const unwatched: MonitoringStateReader = async () => ({ lastCheckedAt: new Map(), liveTypes: null })
