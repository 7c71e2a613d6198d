import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { createGroupReader, type FileRun } from './tap-report.ts'

/** Where the bundles of test files are. */
type Bundles = { buildPath(file: string): string; groupProgram: string }

/** tap ends a file that takes longer and reports the test that hangs. Only a hang takes an hour, also on a slow and busy machine. */
export const TIMEOUT_S = 3_600
/**
 * V8 optimizes a function only after it has run for long (default: 67,584). Most test processes end before the code that it
 * compiles saves more time than the compiler takes: with this setting, they take a twelfth less processor time.
 * Later versions of Node do not have it.
 */
const COMPILE_LATE = process.version.startsWith('v20.') ? ['--interrupt-budget=1000000'] : []
/** Additional time for tap to end a file before it is killed. */
const KILL_DELAY_S = 30

/**
 * Runs bundled test files in one process, one after another, and calls `report` with each result as soon as it is known;
 * `signal` interrupts it like Ctrl-C. A single file runs in a process of its own. When a process ends early, the files that
 * it did not finish are reported with its exit code.
 */
export async function runTestFiles(
  files: string[],
  { buildPath, groupProgram }: Bundles,
  env: Record<string, string>,
  signal: AbortSignal,
  report: (run: FileRun) => void,
): Promise<void> {
  const [first = ''] = files
  const isGroup = files.length > 1
  // a unit file that is alone in its process computes for long
  const flags = !isGroup && first.startsWith('test/unit/') ? [] : COMPILE_LATE
  const child = spawn(process.execPath, [...flags, isGroup ? groupProgram : buildPath(first)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      TAP_TIMEOUT: String(TIMEOUT_S * files.length),
      ...(isGroup && {
        TEST_GROUP: JSON.stringify(files.map(file => [file, buildPath(file)])),
        TEST_FILE_TIMEOUT_S: String(TIMEOUT_S),
      }),
      ...env,
    },
  })
  const interrupt = () => child.kill('SIGINT')
  signal.addEventListener('abort', interrupt)
  const startHungTimer = () => setTimeout(() => child.kill('SIGKILL'), (TIMEOUT_S + KILL_DELAY_S) * 1_000)
  let hung = startHungTimer()
  let startedMs = performance.now()
  const reported = new Set<string>()
  let hasFailed = false
  let errors: string[] = []
  const finish = (file: string, lines: string[], code: number | null) => {
    const nowMs = performance.now()
    reported.add(file)
    hasFailed ||= code !== 0 || lines.some(line => line.startsWith('not ok'))
    report({ file, lines, errors, code, tookMs: nowMs - startedMs })
    startedMs = nowMs
    errors = []
    clearTimeout(hung)
    hung = startHungTimer()
  }
  const alone: string[] = []
  const reader = createGroupReader(
    new Set(files),
    (file, lines, isOk) => {
      // an error after the tests of a file makes tap print a second line about the file
      if (!reported.has(file)) finish(file, lines, isOk ? 0 : 1)
    },
    line => errors.push(line),
  )
  createInterface({ input: child.stdout }).on('line', line => (isGroup ? reader.read(line) : alone.push(line)))
  createInterface({ input: child.stderr }).on('line', line => errors.push(line))
  const code = await new Promise<number | null>(resolve => child.once('close', resolve))
  signal.removeEventListener('abort', interrupt)
  for (const file of files) if (!reported.has(file)) finish(file, isGroup ? reader.takeLines() : alone, code)
  // an error after the last test, or a handle that was left open
  if (code !== 0 && !hasFailed) finish(files.at(-1)!, [], code)
  clearTimeout(hung)
}
