import { execFile } from 'node:child_process'
import { existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readLogTail, spawnBound, stopStale } from '../engines/process.ts'
import { StartError } from '../start/settings.ts'
import type { RunningProcess } from './supervise.ts'

/** The bundles stand beside this one. */
const DIST = fileURLToPath(new URL('.', import.meta.url))
/**
 * On one machine the programs have little to do. V8 gets one helper thread, because each one has memory of its own, and
 * the C library keeps what all threads give back in one place and returns it to the system: a fifth less memory.
 */
const LEAN_FLAGS = ['--v8-pool-size=1']
const LEAN_ENV = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' }
const MAX_LOG_BYTES = 20 * 1024 * 1024

export type LocalProgramOptions = {
  /** of the log and the pid file, e.g. `probe-us-east` */
  name: string
  /** in dist, e.g. `probe-agent.js` */
  program: string
  /** the log line that says it is ready */
  readyEvent: string
  timeoutMs: number
  dataDir: string
  env: Record<string, string>
  /** of Node, in addition to those of every program */
  flags?: string[]
  /** of the environment around it, it gets nothing that names a server or holds a secret */
  withoutSecrets?: boolean
  /** gives up waiting, and stops it */
  cancel: AbortSignal
}

/** Starts one of our programs and resolves when it says that it is ready, with what it says. */
export async function startProgram(
  options: LocalProgramOptions,
): Promise<RunningProcess & { ready: Record<string, unknown> }> {
  const logFile = join(options.dataDir, 'logs', `${options.name}.log`)
  const pidFile = join(options.dataDir, `${options.name}.pid`)
  const file = join(DIST, options.program)
  await stopStale(pidFile, options.program, 'SIGTERM')
  rotate(logFile)
  let tell: (line: Record<string, unknown>) => void = () => {}
  const ready = new Promise<Record<string, unknown>>(resolve => {
    tell = resolve
  })
  const running = spawnBound({
    command: process.execPath,
    args: ['--enable-source-maps', ...LEAN_FLAGS, ...(options.flags ?? []), file],
    logFile,
    stopSignal: 'SIGTERM',
    env: { ...LEAN_ENV, ...(options.withoutSecrets ? removeSecrets(process.env) : process.env), ...options.env },
    onLine: line => {
      if (line.includes(`"${options.readyEvent}"`)) tell(JSON.parse(line))
    },
  })
  writeFileSync(pidFile, String(running.pid))
  running.exited.then(() => rmSync(pidFile, { force: true }))
  const outcome = await Promise.race([
    ready,
    running.exited.then(() => 'ended' as const),
    new Promise<'late'>(resolve => options.cancel.addEventListener('abort', () => resolve('late'), { once: true })),
    new Promise<'late'>(resolve => setTimeout(() => resolve('late'), options.timeoutMs).unref()),
  ])
  if (typeof outcome === 'object') return { ...running, ready: outcome }
  await running.stop()
  const why = outcome === 'ended' ? 'ended' : `was not ready in ${options.timeoutMs / 1000} s`
  throw new StartError(`${options.name} ${why}; the end of ${logFile} says:\n${readLogTail(logFile)}`)
}

const removeSecrets = (env: NodeJS.ProcessEnv) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/URL|KEY|SECRET|SEED|TOKEN|PASS|CREDENTIAL/i.test(name)))

/** Runs the operator's command line and gives what it printed. */
export async function runAdminCommand(args: string[], env: Record<string, string>): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [join(DIST, 'admin.js'), ...args], {
      env: { ...process.env, ...env },
    })
    return stdout.trim()
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string }
    throw new StartError(`picket admin ${args.slice(0, 2).join(' ')} failed: ${stderr.trim() || message}`)
  }
}

function rotate(logFile: string): void {
  if (existsSync(logFile) && statSync(logFile).size > MAX_LOG_BYTES) renameSync(logFile, `${logFile}.1`)
}
