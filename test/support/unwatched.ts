import type { MonitoringStateReader } from '../../control-plane/monitoring/monitors/responses/monitor-response.ts'

/** Without history and without probes. */
export const unwatched: MonitoringStateReader = async () => ({ lastCheckedAt: new Map(), liveTypes: null })
