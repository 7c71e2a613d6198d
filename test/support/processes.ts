import { type ChildProcess, spawn } from 'node:child_process'
import { isAbsolute } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { buildBoundCommand } from '../../tools/engines/process.ts'
import type { Teardown } from './teardown.ts'
import { HANG_MS } from './wait.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export type ProgramOptions = {
  /** below the repository, e.g. `dist/control-plane.js` (made by `npm run build`), or the whole path of an executable */
  program: string
  args?: string[]
  /** nothing else but PATH is passed on */
  env?: Record<string, string>
  /** called for each line of its log */
  onLine?: (line: LogLine) => void
}

/** A line of a program's log: the parsed JSON, or `{ text }` for other output. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into log lines of every kind
export type LogLine = Record<string, any>

export type Program = {
  readonly pid: number
  readonly lines: LogLine[]
  /** resolves to its exit code when it has ended, null after a signal; replaced at each start */
  readonly exited: Promise<number | null>
  /** the first line with that `event`, already printed or in the future; rejects when the program ends before */
  untilEvent(event: string, timeoutMs?: number): Promise<LogLine>
  /** sends SIGTERM and resolves to its exit code */
  stop(): Promise<number | null>
  kill9(): Promise<void>
  /** freezes and thaws it, like a hanging machine */
  freeze(): void
  thaw(): void
  signal(signal: NodeJS.Signals): void
  /** starts the same program again, optionally with a changed environment; `lines` is cleared */
  start(env?: Record<string, string>): void
}

/** Runs one of the programs as a process. A process that is left at the end of the test is killed and reported. */
export function startProgram(t: Teardown, options: ProgramOptions): Program {
  let env = options.env ?? {}
  let lines: LogLine[] = []
  let child: ChildProcess
  let exited: Promise<number | null>
  let listeners = new Set<() => void>()

  const start = (changes: Record<string, string> = {}) => {
    env = { ...env, ...changes }
    lines = []
    listeners = new Set()
    const mine = lines
    const tell = listeners
    const { program, args = [] } = options
    const node = [process.execPath, `${ROOT}${program}`]
    const [command = '', ...before] = isAbsolute(program) ? [program] : node
    // a crashing test leaves no program behind
    child = spawn(...buildBoundCommand(command, [...before, ...args], 'SIGKILL'), {
      cwd: ROOT,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const started = child
    for (const stream of [started.stdout, started.stderr]) {
      if (!stream) continue
      createInterface({ input: stream }).on('line', line => {
        const parsed = parse(line)
        mine.push(parsed)
        options.onLine?.(parsed)
        for (const wake of tell) wake()
      })
    }
    exited = new Promise(resolve => {
      started.once('close', code => {
        resolve(code)
        for (const wake of tell) wake()
      })
    })
  }

  const hasEnded = () => child.exitCode !== null || child.signalCode !== null

  const untilEvent = (event: string, timeoutMs = HANG_MS) =>
    new Promise<LogLine>((resolve, reject) => {
      const look = () => {
        const found = lines.find(line => line.event === event)
        if (found) finish(() => resolve(found))
        else if (hasEnded())
          finish(() => reject(new Error(`${options.program} ended before "${event}":\n${logTail(lines)}`)))
      }
      const timer = setTimeout(
        () =>
          finish(() =>
            reject(new Error(`${options.program} did not say "${event}" in ${timeoutMs} ms:\n${logTail(lines)}`)),
          ),
        timeoutMs,
      )
      const tell = listeners
      const finish = (settle: () => void) => {
        clearTimeout(timer)
        tell.delete(look)
        settle()
      }
      tell.add(look)
      look()
    })

  const stop = async () => {
    if (hasEnded()) return exited
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), HANG_MS)
    const code = await exited
    clearTimeout(timer)
    return code
  }
  const kill9 = async () => {
    child.kill('SIGKILL')
    await exited
  }

  start()
  t.teardown(async () => {
    if (hasEnded()) return
    child.kill('SIGCONT')
    await stop()
    if (child.signalCode === 'SIGKILL')
      throw new Error(`${options.program} did not end within ${HANG_MS} ms of SIGTERM`)
  })
  return {
    get pid() {
      return child.pid ?? 0
    },
    get lines() {
      return lines
    },
    get exited() {
      return exited
    },
    untilEvent,
    stop,
    kill9,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    signal: signal => void child.kill(signal),
    start,
  }
}

function parse(line: string): LogLine {
  try {
    const value = JSON.parse(line)
    return typeof value === 'object' && value !== null ? value : { text: line }
  } catch {
    return { text: line }
  }
}

function logTail(lines: LogLine[]): string {
  return lines
    .slice(-15)
    .map(line => line.text ?? JSON.stringify(line))
    .join('\n')
}
