import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Teardown } from './teardown.ts'

const START = fileURLToPath(new URL('../../tools/start/start.mjs', import.meta.url))

const ADMIN = fileURLToPath(new URL('../../tools/start/admin.mjs', import.meta.url))

/** A data directory that is removed after the test. Call it before `npmStart`, so that it is removed last. */
export function newDataDir(t: Teardown): string {
  const dir = mkdtempSync(join(tmpdir(), 'picket-start-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** Runs `npm start` with its own data stores, and stops it after the test. */
export function npmStart(t: Teardown, env: Record<string, string>) {
  const { TEST_DATABASE_URL: _, TEST_CLICKHOUSE_URL: __, ...rest } = process.env
  const child = spawn(process.execPath, [START], { env: { ...rest, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  const exited = new Promise<number | null>(resolve => child.once('close', resolve))
  t.teardown(async () => {
    child.kill('SIGTERM')
    await exited
  })
  return {
    child,
    exited,
    /** its output */
    output: () => output,
    isReady: () => output.includes('Ctrl-C stops everything'),
  }
}

/** Runs `npm run admin` for a data directory, with no other setting. */
export function npmRunAdmin(dataDir: string, ...args: string[]): Promise<{ code: number; output: string }> {
  return new Promise(resolve => {
    const options = { env: { PATH: process.env.PATH, DATA_DIR: dataDir } }
    execFile(process.execPath, [ADMIN, ...args], options, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), output: `${stdout}${stderr}` })
    })
  })
}
