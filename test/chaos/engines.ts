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
import { TIMEOUT_MS } from './scales.ts'

export type ChaosEngines = {
  byName: Record<string, KeptEngine>
  natsOperatorSeed: string
  /** null: this disk cannot be filled in this run */
  natsDisk: Disk | null
  /** `replication`: the relay through which a standby connects */
  postgres: { dataDir: string; logFile: string; replication: TcpRelay }
}

/** JetStream uses at most three quarters of it, and reserves the maximum size of the streams. */
const NATS_DISK_MB = 2_000
/** Configuration of the control planes: the streams of results must fit next to the others. */
export const SMALL_STREAMS = { RESULTS_MAX_BYTES: String(128 * 1024 * 1024), LATE_MAX_BYTES: String(64 * 1024 * 1024) }

/** PostgreSQL, NATS and ClickHouse for this run only, with the durability settings of `npm start`. */
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

/** Retries: the remaining processes of a killed PostgreSQL may need a moment to exit. */
export async function restartEngine(engine: KeptEngine): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS
  for (;;) {
    try {
      return await engine.restart()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await pause(500)
    }
  }
}
