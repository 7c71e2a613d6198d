import type { Egress } from '../../../shared/egress/types.ts'
import type { Log } from '../../../shared/process/log.ts'
import type { Metrics } from '../../../shared/process/metrics.ts'
import type { Config } from '../../config.ts'
import type { Clickhouse } from '../../foundation/platform/clickhouse.ts'
import type { SecretCipher } from '../../foundation/platform/crypto/encryption.ts'
import type { Signer } from '../../foundation/platform/crypto/signer.ts'
import type { Mailer } from '../../foundation/platform/mail/mailer.ts'
import type { Nats } from '../../foundation/platform/nats/client.ts'
import type { ObjectStore } from '../../foundation/platform/object-storage/nats-bucket.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import type { EngineClocks } from '../../foundation/platform/time/engine-clocks.ts'
import type { Live } from '../../insight/live/live-worker.ts'
import type { History } from './history.ts'
import type { Pools } from './pools.ts'
import type { ApiTimeLimits } from './time-limits.ts'

/** What a process shares; each area uses a few of these. */
export type ProcessContext = {
  config: Config
  apiTimeLimits: ApiTimeLimits
  log: Log
  metrics: Metrics
  secrets: SecretCipher
  egress: Egress
  /** for webhooks of visitors of status pages */
  visitorEgress: Egress
  /** where custom domains have their certificates */
  httpsPort: number
  /** null: no SMTP_URL */
  mailer: Mailer | null
  /** the pool of the role that uses this context; otherwise that of the first role of the process */
  db: Db
  pools: Pools
  nats: Nats
  clocks: EngineClocks
  history: History
  /** that of `history` for the role that uses this context */
  clickhouse: Clickhouse
  /** for screenshots */
  objects: ObjectStore
  /** for links to screenshots */
  sign: Signer
  /** boards and event streams; started by the role `api` */
  live: Live
}
