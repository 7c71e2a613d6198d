import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { reserveFreePort } from '../../tools/engines/free-port.ts'
import { listProcesses } from './leaks.ts'
import { waitFor } from './wait.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Runs `npm <args>` in its own process group, in a directory whose name identifies all its processes. */
async function startNpm(t: Test, args: string[], env: Record<string, string> = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'picket-npm-'))
  const { TEST_DATABASE_URL: _, TEST_CLICKHOUSE_URL: __, ...rest } = process.env
  const ports = { PORT: String(await reserveFreePort()), GRPC_PORT: String(await reserveFreePort()) }
  const child = spawn('npm', args, {
    cwd: ROOT,
    env: { ...rest, ...ports, DATA_DIR: join(dir, 'data'), TMPDIR: dir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
  const exited = new Promise<void>(resolve => child.once('exit', () => resolve()))
  t.teardown(async () => {
    for (const pid of listProcesses(dir)) if (readCommandLine(pid) !== '') process.kill(pid, 'SIGKILL')
    await exited
    rmSync(dir, { recursive: true, force: true })
  })
  return { npm: child.pid!, exited, output: () => output, processes: () => listProcesses(dir) }
}

/** The command line; empty when the process has exited. */
function readCommandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim()
  } catch {
    return ''
  }
}

/** Waits until npm and all processes that it started have exited. */
async function ended(started: Awaited<ReturnType<typeof startNpm>>) {
  const left = () =>
    `the end of ${started.processes().map(readCommandLine).join(', ')} after ${started.output().slice(-500)}`
  await waitFor(() => started.processes().length === 0, { label: left })
  await started.exited
}

/** A signal to npm alone (1), or to all processes of its group, like Ctrl-C (-1). */
type SignalTo = 1 | -1
export const describeReceiver = (to: SignalTo) => (to === 1 ? 'npm alone' : 'npm and all in its group')

/** Starts `npm start` or `npm run demo`, signals it when it runs, and asserts that all its processes end in order. */
export async function assertStartStops(t: Test, args: string[], signal: NodeJS.Signals, to: SignalTo): Promise<void> {
  const started = await startNpm(t, args)
  await waitFor(() => started.output().includes('Ctrl-C stops everything'), { label: started.output })
  t.ok(started.processes().length >= 8, 'engines, control plane and probes')
  process.kill(started.npm * to, signal)
  await ended(started)
  t.match(started.output(), /^Stopped\.$/m)
}

/** Signals `npm start` alone while PostgreSQL starts, and asserts that no process is left. */
export async function assertStartCanBeInterrupted(t: Test, signal: NodeJS.Signals): Promise<void> {
  const started = await startNpm(t, ['start'])
  await waitFor(() => started.output().includes('PostgreSQL'), { label: started.output })
  process.kill(started.npm, signal)
  await ended(started)
  t.match(started.output(), /^Stopped\.$/m)
}

/** Signals `npm test` while a test runs, and asserts that the test and its data stores end. */
export async function assertTestsCanBeInterrupted(t: Test, signal: NodeJS.Signals, to: SignalTo): Promise<void> {
  const started = await startNpm(t, ['test', '--', 'test/store/deliveries.test.ts'])
  const isTesting = () => started.processes().some(pid => readCommandLine(pid).includes('.tap/tests-'))
  await waitFor(isTesting, { label: started.output })
  process.kill(started.npm * to, signal)
  await ended(started)
  t.match(started.output(), /interrupted after/)
}
