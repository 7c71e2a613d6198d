import { renameSync, rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { startStandby, waitForReplay, withClient } from '../support/standby.ts'
import { type ChaosEngines, restartEngine } from './engines.ts'
import { TIMEOUT_MS } from './scales.ts'

/** A period whose commits PostgreSQL has lost. In ms since 1970. */
export type LostPeriod = { fromMs: number; toMs: number }

/**
 * Disconnects a streaming standby, kills the primary some time later, and promotes the standby. Transactions that were
 * committed in between are lost, although they were acknowledged.
 */
export async function promoteStandby({ byName, postgres }: ChaosEngines, cutOffMs: number): Promise<LostPeriod> {
  const primary = byName.PostgreSQL!
  const files = { dataDir: `${postgres.dataDir}-standby`, logFile: `${postgres.logFile}.standby` }
  const standby = await startStandby(primary.url, postgres.dataDir, postgres.replication.url, files)
  try {
    await waitForReplay(primary.url, standby.url, TIMEOUT_MS)
    const fromMs = Date.now()
    await postgres.replication.cut()
    await pause(cutOffMs)
    await primary.kill9()
    const toMs = Date.now()
    // the standby replays all complete records that it has received before it is promoted
    await standby.stop()
    rmSync(postgres.dataDir, { recursive: true })
    renameSync(files.dataDir, postgres.dataDir)
    await restartEngine(primary)
    await withClient(primary.url, client => client.query('SELECT pg_promote(true, 60)'))
    return { fromMs, toMs }
  } finally {
    await standby.stop()
    await postgres.replication.restore()
  }
}
