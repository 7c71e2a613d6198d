import type { Log } from '../../../shared/process/log.ts'
import type { Metrics } from '../../../shared/process/metrics.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import type { DeliveryTransports } from './attempts/send-actions.ts'
import type { PrepareTools } from './rendering/prepare.ts'

/** All that sending takes: with the connections that stay open, and the times. */
export type SendContext = PrepareTools & DeliveryTransports & { db: Db; log: Log; metrics: Metrics }
export type DeliveryContext = Omit<SendContext, 'connections' | 'timing' | 'ownFaults' | 'reportOwnFault'>
