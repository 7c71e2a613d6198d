import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Program } from './processes.ts'
import type { Teardown } from './teardown.ts'

const CLOCK_JUMP = new URL('../chaos/clock-jump.mjs', import.meta.url).href

type WrongClock = {
  /** for the programs that have this clock */
  env: Record<string, string>
  /** Sets how far the wall clock of these programs is ahead of the machine's. Monotonic clocks are not affected. */
  setAhead(ms: number, ...programs: Pick<Program, 'signal'>[]): void
}

/** An adjustable wall clock, for programs that are started with its `env`. */
export function createWrongClock(t: Teardown, aheadMs = 0): WrongClock {
  const dir = mkdtempSync(join(tmpdir(), 'picket-clock-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, 'ahead-ms')
  writeFileSync(file, String(aheadMs))
  return {
    env: { NODE_OPTIONS: `--import=${CLOCK_JUMP}`, CLOCK_JUMP_FILE: file },
    setAhead(ms, ...programs) {
      writeFileSync(file, String(ms))
      for (const program of programs) program.signal('SIGUSR2')
    },
  }
}
