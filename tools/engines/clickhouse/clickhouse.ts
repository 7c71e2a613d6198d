import { chmodSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Engine, readLogTail, spawnBound, stopStale } from '../process.ts'
import { CLICKHOUSE_USER, generatePassword } from './authentication.ts'

type ClickhouseOptions = {
  dataDir: string
  logFile: string
  /** 0: any free port */
  port: number
  /** password of the URL, to restart an engine that is in use; default: a new one */
  password?: string
}

/**
 * Starts ClickHouse (chDB in a separate process, with ClickHouse's HTTP interface) on 127.0.0.1. It answers only requests with
 * the password in its URL, and reads and writes only its own tables.
 */
export async function startClickhouse(options: ClickhouseOptions): Promise<Engine> {
  const dataDir = resolve(options.dataDir)
  const pidFile = join(dataDir, 'server.pid')
  await stopStale(pidFile, ['clickhouse-server', pidFile], 'SIGTERM')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  chmodSync(dataDir, 0o700)
  const server = spawnBound({
    command: process.execPath,
    // this process only forwards requests and answers, so V8 needs little memory
    args: ['--v8-pool-size=1', '--max-semi-space-size=4', ...program(), dataDir, String(options.port), pidFile],
    logFile: options.logFile,
    stopSignal: 'SIGTERM',
    ipc: true,
  })
  const password = options.password ?? generatePassword()
  server.child.send({ password })
  const port = await new Promise<number>((resolve, reject) => {
    server.child.once('message', message => resolve((message as { port: number }).port))
    server.exited.then(() => reject(new Error(`ClickHouse did not start: ${readLogTail(options.logFile)}`)))
  })
  server.child.channel?.unref()
  return {
    url: `http://${CLICKHOUSE_USER}:${password}@127.0.0.1:${port}`,
    pid: server.pid,
    exited: server.exited,
    stop: server.stop,
  }
}

/** Next to this file: as TypeScript in the checkout, as its own bundle in `dist`. */
function program(): string[] {
  const here = import.meta.url
  if (!here.endsWith('.ts')) return [fileURLToPath(new URL('./clickhouse-server.js', here))]
  return ['--import', 'tsx', fileURLToPath(new URL('./clickhouse-server.ts', here))]
}
