import { execFile } from 'node:child_process'
import { appendFileSync, chownSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { startPostgres } from '../../tools/engines/postgres.ts'
import type { Engine } from '../../tools/engines/process.ts'
import { waitFor } from '../support/wait.ts'
import { type ChaosEngines, restartEngine } from './engines.ts'
import { LIMIT_MS } from './scales.ts'

/** A period whose commits PostgreSQL has lost. In ms since 1970. */
export type LostPeriod = { fromMs: number; toMs: number }

const SLOT = 'chaos_standby'

/**
 * Disconnects a streaming standby, kills the primary some time later, and promotes the standby. Transactions that were
 * committed in between are lost, although they were acknowledged.
 */
export async function promoteStandby({ byName, postgres }: ChaosEngines, cutOffMs: number): Promise<LostPeriod> {
  const primary = byName.PostgreSQL!
  const dir = `${postgres.dataDir}-standby`
  const standby = await startStandby(primary.url, postgres, dir)
  try {
    await waitForReplay(primary.url, standby.url)
    const fromMs = Date.now()
    await postgres.replication.cut()
    await pause(cutOffMs)
    await primary.kill9()
    const toMs = Date.now()
    // the standby replays all complete records that it has received before it is promoted
    await standby.stop()
    rmSync(postgres.dataDir, { recursive: true })
    renameSync(dir, postgres.dataDir)
    await restartEngine(primary)
    await withClient(primary.url, client => client.query('SELECT pg_promote(true, 60)'))
    return { fromMs, toMs }
  } finally {
    await standby.stop()
    await postgres.replication.restore()
  }
}

/** Copies the files of the running primary, as a base backup does, and starts a standby with them. */
async function startStandby(
  url: string,
  { dataDir, replication, logFile }: ChaosEngines['postgres'],
  dir: string,
): Promise<Engine> {
  rmSync(dir, { recursive: true, force: true })
  await withClient(url, async client => {
    const slots = await client.query('SELECT FROM pg_replication_slots WHERE slot_name = $1', [SLOT])
    if (slots.rowCount === 0) await client.query('SELECT pg_create_physical_replication_slot($1, true)', [SLOT])
    await client.query(`SELECT pg_backup_start('chaos', true)`)
    await copyFiles(dataDir, dir)
    const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)')
    writeFileSync(join(dir, 'backup_label'), rows[0].labelfile)
  })
  for (const name of ['pg_wal', 'pg_replslot'])
    await promisify(execFile)('find', [join(dir, name), '-mindepth', '1', '-delete'])
  rmSync(join(dir, 'postmaster.pid'), { force: true })
  writeFileSync(join(dir, 'standby.signal'), '')
  const { port } = new URL(replication.url)
  const follow = `primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres'\nprimary_slot_name = '${SLOT}'\n`
  appendFileSync(join(dir, 'postgresql.auto.conf'), follow)
  const { uid, gid } = statSync(dataDir)
  for (const name of ['backup_label', 'standby.signal']) chownSync(join(dir, name), uid, gid)
  return startPostgres({ dataDir: dir, logFile: `${logFile}.standby`, port: 0 })
}

/** Ignores files that are deleted while they are copied: the replay handles them. */
async function copyFiles(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', from, to]).catch(error => {
    const others = String(error.stderr)
      .split('\n')
      .filter(line => line !== '' && !line.includes('No such file'))
    if (others.length > 0) throw error
  })
}

/** Waits until the standby has replayed everything that the primary has written until now. */
async function waitForReplay(primaryUrl: string, standbyUrl: string): Promise<void> {
  const written = await withClient(primaryUrl, async client => {
    return (await client.query('SELECT pg_current_wal_flush_lsn()::text AS lsn')).rows[0].lsn as string
  })
  await withClient(standbyUrl, client =>
    waitFor(
      async () => (await client.query('SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS yes', [written])).rows[0].yes,
      {
        timeoutMs: LIMIT_MS,
        label: 'the standby to catch up',
      },
    ),
  )
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}
