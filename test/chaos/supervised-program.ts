import { setTimeout as pause } from 'node:timers/promises'
import { type LogLine, type ProgramOptions, startProgram } from '../support/processes.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'

/** A program that is restarted whenever it exits, as a process supervisor does. */
export type SupervisedProgram = {
  /** resolves to its process id, when it runs */
  waitUntilRunning(): Promise<number>
  /** kills it, and restarts it after `ms` */
  killFor(ms: number): void
  signal(signal: NodeJS.Signals): void
  /** stops it without a restart; resolves to its exit code */
  stop(): Promise<number | null>
  /** for each exit of a ready program that was not killed by the test: its last log lines */
  readonly unexpectedExits: LogLine[][]
}

const RESTART_AFTER_MS = 1_000
const LAST_LINES = 20

/** @param readyEvent the event that it logs when it is ready */
export function superviseProgram(t: Teardown, options: ProgramOptions, readyEvent: string): SupervisedProgram {
  const program = startProgram(t, options)
  const unexpectedExits: LogLine[][] = []
  let downMs: number | null = null
  let isStopping = false
  let runs = true

  const watch = async () => {
    for (;;) {
      await program.exited
      runs = false
      if (isStopping) return
      const { lines } = program
      if (downMs === null && lines.some(line => line.event === readyEvent))
        unexpectedExits.push(lines.slice(-LAST_LINES))
      await pause(downMs ?? RESTART_AFTER_MS)
      downMs = null
      if (isStopping) return
      program.start()
      runs = true
    }
  }
  watch()
  t.teardown(() => {
    isStopping = true
  })
  return {
    async waitUntilRunning() {
      await waitFor(() => runs, { label: `${options.program} to be restarted` })
      return program.pid
    },
    unexpectedExits,
    killFor(ms) {
      downMs = ms
      program.signal('SIGKILL')
    },
    signal: program.signal,
    async stop() {
      isStopping = true
      return program.stop()
    },
  }
}
