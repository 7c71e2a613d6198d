import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reserveFreePort } from '../../tools/engines/free-port.ts'
import type { Teardown } from './teardown.ts'
import { waitFor } from './wait.ts'

/** A module of its configuration: prober, timeout and the options of the prober. */
export type BlackboxModule = { prober: 'http' | 'tcp' | 'dns' | 'icmp'; timeout: string } & Record<string, unknown>

/** Probes a target with a module. Returns whether it succeeded, and the output of the exporter. */
type Blackbox = (module: string, target: string) => Promise<{ isUp: boolean; log: string }>

/** Starts prometheus-blackbox-exporter with these modules. Rejects with instructions when it is not installed. */
export async function startBlackbox(t: Teardown, modules: Record<string, BlackboxModule>): Promise<Blackbox> {
  const dir = mkdtempSync(join(tmpdir(), 'picket-blackbox-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const config = join(dir, 'blackbox.yml')
  // JSON is YAML
  writeFileSync(config, JSON.stringify({ modules }))
  const port = await reserveFreePort()
  const args = [`--config.file=${config}`, `--web.listen-address=127.0.0.1:${port}`]
  const exporter = spawn('prometheus-blackbox-exporter', args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  exporter.stderr.on('data', chunk => {
    output = `${output}${chunk}`.slice(-4_000)
  })
  await new Promise<void>((resolve, reject) => {
    exporter.once('spawn', resolve)
    exporter.once('error', () => {
      const todo = 'run "sudo apt-get install prometheus-blackbox-exporter", or npm test as root'
      reject(new Error(`prometheus-blackbox-exporter is missing: ${todo}`))
    })
  })
  t.teardown(() => exporter.kill())
  const origin = `http://127.0.0.1:${port}`
  const isReady = () =>
    fetch(`${origin}/-/healthy`).then(
      answer => answer.ok,
      () => false,
    )
  await waitFor(isReady, { label: () => `blackbox_exporter; its output: ${output}` })
  return async (module, target) => {
    const query = new URLSearchParams({ module, target, debug: 'true' })
    const log = await (await fetch(`${origin}/probe?${query}`)).text()
    return { isUp: /^probe_success 1$/m.test(log), log }
  }
}
