import { execFile } from 'node:child_process'
import { existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readLogTail, spawnBound, stopStale } from '../engines/process.ts'
import { StartError } from '../start/settings.ts'
import type { RunningProcess } from './supervise.ts'

/** The folder of the bundles, which contains this one. */
const DIST = fileURLToPath(new URL('.', import.meta.url))
/**
 * Reduces memory by a fifth, because the programs of a local installation have little to do: one helper thread of V8, and
 * one arena of the C library that returns memory to the system.
 */
const LEAN_FLAGS = ['--v8-pool-size=1']
const LEAN_ENV = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' }
const MAX_LOG_BYTES = 20 * 1024 * 1024

type LocalProgramOptions = {
  /** name of the log and the pid file, for example `probe-us-east` */
  name: string
  /** file in dist, for example `probe-agent.js` */
  program: string
  /** the event of the log line that reports readiness */
  readyEvent: string
  timeoutMs: number
  dataDir: string
  env: Record<string, string>
  /** additional flags of Node */
  flags?: string[]
  /** removes variables that contain addresses of servers or secrets from the environment */
  withoutSecrets?: boolean
  /** stops waiting, and the program */
  cancel: AbortSignal
}

/** Starts a program of Picket. Resolves with its log line when it is ready. */
export async function startProgram(
  options: LocalProgramOptions,
): Promise<RunningProcess & { ready: Record<string, unknown> }> {
  const logFile = join(options.dataDir, 'logs', `${options.name}.log`)
  const pidFile = join(options.dataDir, `${options.name}.pid`)
  const file = join(DIST, options.program)
  await stopStale(pidFile, [options.program], 'SIGTERM')
  rotate(logFile)
  let resolveReady: (line: Record<string, unknown>) => void = () => {}
  const ready = new Promise<Record<string, unknown>>(resolve => {
    resolveReady = resolve
  })
  const running = spawnBound({
    command: process.execPath,
    args: ['--enable-source-maps', ...LEAN_FLAGS, ...(options.flags ?? []), file],
    logFile,
    stopSignal: 'SIGTERM',
    env: { ...LEAN_ENV, ...(options.withoutSecrets ? removeSecrets(process.env) : process.env), ...options.env },
    onLine: line => {
      if (line.includes(`"${options.readyEvent}"`)) resolveReady(JSON.parse(line))
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
  const why = outcome === 'ended' ? 'exited' : `was not ready in ${options.timeoutMs / 1000} s`
  throw new StartError(`${options.name} ${why}. Last lines of ${logFile}:\n${readLogTail(logFile)}`)
}

const removeSecrets = (env: NodeJS.ProcessEnv) =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/URL|KEY|SECRET|SEED|TOKEN|PASS|CREDENTIAL/i.test(name)))

/** Runs the operator's command line. Returns its output. */
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
