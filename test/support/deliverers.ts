import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { DeliveryQueue } from './delivery-queue.ts'
import type { Teardown } from './teardown.ts'

/** Drivers of other databases, which knex tries to load. */
const NOT_USED = [
  'mysql',
  'mysql2',
  'mariadb/callback',
  'sqlite3',
  'better-sqlite3',
  'oracledb',
  'tedious',
  'pg-native',
]

/** How many started processes wait, because node needs more time to start than the test to kill. */
const STANDBY = 3

type Deliverer = { kill9(): Promise<void> }

/** Delivering processes, one after the other. `next` starts the work of one. */
export async function createDeliverers(
  t: Teardown,
  { url, secretKey }: DeliveryQueue,
): Promise<() => Promise<Deliverer>> {
  const program = await bundle(t)
  const spawn = () => {
    const child = fork(program, [url, secretKey.toString('base64')], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      // not the loader of this process, which starts slowly
      execArgv: [],
    })
    t.teardown(() => child.kill('SIGKILL'))
    return { child, ready: once(child, 'message') }
  }
  const standby = Array.from({ length: STANDBY }, spawn)
  return async () => {
    const { child, ready } = standby.shift()!
    standby.push(spawn())
    await ready
    const running = once(child, 'message')
    child.send('begin')
    await running
    return { kill9: () => kill9(child) }
  }
}

async function kill9(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

/** Bundled into one file it starts in a tenth of the time that hundreds of modules need. */
async function bundle(t: Teardown): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'picket-deliverer-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const outfile = join(dir, 'delivery-process.cjs')
  await build({
    entryPoints: [fileURLToPath(new URL('delivery-process.ts', import.meta.url))],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    external: NOT_USED,
    logLevel: 'error',
  })
  return outfile
}
