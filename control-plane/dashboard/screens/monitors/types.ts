import type { OperationResponse } from '../../core/operations.ts'

/** A monitor and a check of one, as the API answers them. */
export type Monitor = OperationResponse<'readMonitor'>['data']
export type Check = OperationResponse<'listMonitorChecks'>['data'][number]
