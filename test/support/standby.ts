import { execFile } from 'node:child_process'
import { appendFileSync, chownSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { startPostgres } from '../../tools/engines/postgres.ts'
import type { Engine } from '../../tools/engines/process.ts'
import { type KeptEngine, keepEngine } from './engine.ts'
import { startTcpRelay, type TcpRelay } from './tcp-relay.ts'
import type { Teardown } from './teardown.ts'
import { HANG_MS, waitFor } from './wait.ts'

type StandbyFiles = { dataDir: string; logFile: string }

type PostgresPair = {
  primary: KeptEngine
  standby: Engine
  /** the relay through which the standby receives the WAL */
  replication: TcpRelay
  promote(): Promise<void>
}

const SLOT = 'standby'

/** A PostgreSQL of the test with a streaming standby, which has replayed everything. The databases have no schema. */
export async function startPostgresPair(t: Teardown): Promise<PostgresPair> {
  const dir = mkdtempSync(join(tmpdir(), 'picket-postgres-'))
  const files = (name: string) => ({ dataDir: join(dir, name), logFile: join(dir, `${name}.log`) })
  const primary = await keepEngine(port => startPostgres({ ...files('primary'), port }))
  t.teardown(async () => {
    await primary.stop()
    rmSync(dir, { recursive: true, force: true })
  })
  const replication = await startTcpRelay(t, primary.url)
  const standby = await startStandby(primary.url, files('primary').dataDir, replication.url, files('standby'))
  t.teardown(() => standby.stop())
  await waitForReplay(primary.url, standby.url)
  const promote = () => withClient(standby.url, client => client.query('SELECT pg_promote(true, 300)'))
  return { primary, standby, replication, promote: async () => void (await promote()) }
}

/**
 * Copies the files of a running primary (`primaryDir`), as a base backup does, and starts a standby with them in another folder,
 * which follows the server at `followUrl`.
 */
export async function startStandby(
  primaryUrl: string,
  primaryDir: string,
  followUrl: string,
  { dataDir, logFile }: StandbyFiles,
): Promise<Engine> {
  rmSync(dataDir, { recursive: true, force: true })
  await withClient(primaryUrl, async client => {
    const slots = await client.query('SELECT FROM pg_replication_slots WHERE slot_name = $1', [SLOT])
    if (slots.rowCount === 0) await client.query('SELECT pg_create_physical_replication_slot($1, true)', [SLOT])
    await client.query(`SELECT pg_backup_start('standby', true)`)
    await copyFiles(primaryDir, dataDir)
    const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(false)')
    writeFileSync(join(dataDir, 'backup_label'), rows[0].labelfile)
  })
  for (const name of ['pg_wal', 'pg_replslot'])
    await promisify(execFile)('find', [join(dataDir, name), '-mindepth', '1', '-delete'])
  rmSync(join(dataDir, 'postmaster.pid'), { force: true })
  writeFileSync(join(dataDir, 'standby.signal'), '')
  const { port } = new URL(followUrl)
  const follow = `primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres'\nprimary_slot_name = '${SLOT}'\n`
  appendFileSync(join(dataDir, 'postgresql.auto.conf'), follow)
  const { uid, gid } = statSync(primaryDir)
  for (const name of ['backup_label', 'standby.signal']) chownSync(join(dataDir, name), uid, gid)
  return startPostgres({ dataDir, logFile, port: 0 })
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
export async function waitForReplay(primaryUrl: string, standbyUrl: string, timeoutMs = HANG_MS): Promise<void> {
  const written = await withClient(primaryUrl, async client => {
    return (await client.query('SELECT pg_current_wal_flush_lsn()::text AS lsn')).rows[0].lsn as string
  })
  const replayed = 'SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS yes'
  await withClient(standbyUrl, client =>
    waitFor(async () => (await client.query(replayed, [written])).rows[0].yes, {
      timeoutMs,
      label: 'the standby to catch up',
    }),
  )
}

/** A connection outside of any pool. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}
