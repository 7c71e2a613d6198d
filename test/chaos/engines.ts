import { setTimeout as pause } from 'node:timers/promises'
import { generateOperatorSeed, parseOperatorSeed } from '../../control-plane/foundation/platform/nats/operator.ts'
import { startClickhouse } from '../../tools/engines/clickhouse/clickhouse.ts'
import { startNats } from '../../tools/engines/nats.ts'
import { startPostgres } from '../../tools/engines/postgres.ts'
import { type KeptEngine, keepEngine } from '../support/engine.ts'
import { startTcpRelay, type TcpRelay } from '../support/tcp-relay.ts'
import type { Teardown } from '../support/teardown.ts'
import { type Disk, mountDisk } from './disk.ts'
import type { ChaosScale } from './plan.ts'
import { LIMIT_MS } from './scales.ts'

export type ChaosEngines = {
  byName: Record<string, KeptEngine>
  natsOperatorSeed: string
  /** null: it cannot be full here */
  natsDisk: Disk | null
  /** `replication`: the way of a standby to it */
  postgres: { dataDir: string; logFile: string; replication: TcpRelay }
}

/** JetStream takes three quarters of it at most, and keeps room for what the streams may hold. */
const NATS_DISK_MB = 2_000
/** For control planes, so that the streams of results have room next to the others. */
export const SMALL_STREAMS = { RESULTS_MAX_BYTES: String(128 * 1024 * 1024), LATE_MAX_BYTES: String(64 * 1024 * 1024) }

/** PostgreSQL, NATS and ClickHouse of the run's own, as durable as `npm start` has them. */
export async function startEngines(t: Teardown, dir: string, scale: ChaosScale): Promise<ChaosEngines> {
  const natsOperatorSeed = generateOperatorSeed()
  const operator = parseOperatorSeed(natsOperatorSeed)
  const files = (name: string) => ({ dataDir: `${dir}/${name}`, logFile: `${dir}/logs/${name}.log` })
  const natsDisk = scale.isShort ? null : mountDisk(t, files('nats').dataDir, NATS_DISK_MB)
  const [postgres, nats, clickhouse] = await Promise.all([
    keepEngine(port => startPostgres({ ...files('postgres'), port })),
    keepEngine(port => startNats({ ...files('nats'), port, operator })),
    keepEngine((port, password) => startClickhouse({ ...files('clickhouse'), port, password })),
  ])
  const byName = { PostgreSQL: postgres, NATS: nats, ClickHouse: clickhouse }
  t.teardown(() => Promise.all(Object.values(byName).map(engine => engine.stop())))
  const replication = await startTcpRelay(t, postgres.url)
  return { byName, natsOperatorSeed, natsDisk, postgres: { ...files('postgres'), replication } }
}

/** What is left of a killed PostgreSQL may need a moment to go. */
export async function restartEngine(engine: KeptEngine): Promise<void> {
  const deadline = performance.now() + LIMIT_MS
  for (;;) {
    try {
      return await engine.restart()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await pause(500)
    }
  }
}
