import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** The result of a test file: its TAP lines, its standard error, and its exit code (null: killed). */
export type FileRun = { file: string; lines: string[]; errors: string[]; code: number | null; tookMs: number }

/** tap ends a file that takes longer and reports the test that hangs. */
export const TIMEOUT_S = 900
/** The limit for files of test/long, which compute for minutes. */
const LONG_TIMEOUT_S = 3_600
/** Additional time for tap to end a file before it is killed. */
const KILL_DELAY_S = 30

/** Runs one bundled test file in its own process; `signal` interrupts it like Ctrl-C. */
export function runTestFile(
  file: string,
  bundle: string,
  env: Record<string, string>,
  signal: AbortSignal,
): Promise<FileRun> {
  const startedMs = performance.now()
  const timeoutS = file.startsWith('test/long/') ? LONG_TIMEOUT_S : TIMEOUT_S
  const child = spawn(process.execPath, [bundle], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TAP_TIMEOUT: String(timeoutS), ...env },
  })
  const [lines, errors]: [string[], string[]] = [[], []]
  createInterface({ input: child.stdout }).on('line', line => lines.push(line))
  createInterface({ input: child.stderr }).on('line', line => errors.push(line))
  const interrupt = () => child.kill('SIGINT')
  signal.addEventListener('abort', interrupt)
  const hung = setTimeout(() => child.kill('SIGKILL'), (timeoutS + KILL_DELAY_S) * 1_000)
  return new Promise(resolve => {
    child.once('close', code => {
      clearTimeout(hung)
      signal.removeEventListener('abort', interrupt)
      resolve({ file, lines, errors, code, tookMs: performance.now() - startedMs })
    })
  })
}
