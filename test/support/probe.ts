import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Program, startProgram } from './processes.ts'
import type { Teardown } from './teardown.ts'

/** A real probe in its own process, allowed to check this machine. `env` is added to the common variables. */
export function startProbe(
  t: Teardown,
  fleetUrl: string,
  env: Record<string, string> = {},
  program = 'dist/probe-agent.js',
): Program {
  const dataDir = mkdtempSync(join(tmpdir(), 'picket-probe-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  return startProgram(t, {
    program,
    env: {
      FLEET_URL: fleetUrl,
      PROBE_TOKEN: 'prb_test',
      EGRESS_ALLOW: '127.0.0.0/8,::1/128',
      DATA_DIR: dataDir,
      CHROMIUM_PATH: 'off',
      ...env,
    },
  })
}
