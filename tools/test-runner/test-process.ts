import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** What a test file left: the lines of its TAP, those of its standard error, and how its process ended (null: killed). */
export type FileRun = { file: string; lines: string[]; errors: string[]; code: number | null; tookMs: number }

/** tap ends a file that takes longer and says which test hung; no file asks for a limit of its own. */
export const TIMEOUT_S = 900
/** A file of test/long computes for more than a minute, several of them at a time. */
const LONG_TIMEOUT_S = 3_600
/** tap has this much time to end a file by itself. */
const KILL_DELAY_S = 30

/** Runs one bundled test file as a process of its own; `signal` ends it as Ctrl-C would. */
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
