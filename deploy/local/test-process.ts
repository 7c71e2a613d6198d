import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** What a test file left: the lines of its TAP, those of its standard error, and how its process ended (null: killed). */
export type FileRun = { file: string; lines: string[]; errors: string[]; code: number | null; tookMs: number }

/** tap ends a file that takes longer and says which test hung; no file asks for a limit of its own. */
export const TIMEOUT_S = 900
/** One that does not even do that. */
const HUNG_MS = (TIMEOUT_S + 30) * 1_000

/** Runs one bundled test file as a process of its own; `signal` ends it as Ctrl-C would. */
export function runTestFile(
  file: string,
  bundle: string,
  env: Record<string, string>,
  signal: AbortSignal,
): Promise<FileRun> {
  const startedMs = performance.now()
  const child = spawn(process.execPath, [bundle], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TAP_TIMEOUT: String(TIMEOUT_S), ...env },
  })
  const [lines, errors]: [string[], string[]] = [[], []]
  createInterface({ input: child.stdout }).on('line', line => lines.push(line))
  createInterface({ input: child.stderr }).on('line', line => errors.push(line))
  const interrupt = () => child.kill('SIGINT')
  signal.addEventListener('abort', interrupt)
  const hung = setTimeout(() => child.kill('SIGKILL'), HUNG_MS)
  return new Promise(resolve => {
    child.once('close', code => {
      clearTimeout(hung)
      signal.removeEventListener('abort', interrupt)
      resolve({ file, lines, errors, code, tookMs: performance.now() - startedMs })
    })
  })
}
