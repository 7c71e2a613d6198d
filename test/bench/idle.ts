/**
 * CPU time and memory of `npm start` without monitors, and with a thousand monitors in one region. Includes all processes that
 * it started, npm and the runner.
 */
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { reserveFreePort } from '../../tools/engines/free-port.ts'
import { createApi } from '../support/api.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import { computeUseByProgram, PROGRAMS, type ResourceUse, readPrograms } from './resource-use.ts'
import { computeKumaUse, createMonitors, type Figure, figure, readMetric } from './rig.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MONITORS = 1_000
const INTERVAL_S = 30
/** Excludes the first minutes, in which V8 compiles: an installation runs for days. */
const SETTLE_S = 300
const SETTLE_WITH_MONITORS_S = 120
const SECONDS = 60

export async function benchIdle(t: Teardown): Promise<Figure[]> {
  const target = fork(new URL('probe.ts', import.meta.url), ['serve'])
  t.teardown(() => target.kill())
  const [targetPort] = await once(target, 'message')
  const { pid, origin, operator, apiKey } = await startInstallation(t)
  await pause(SETTLE_S * 1_000)
  const idle = await measure(pid)

  const changes = { url: `http://127.0.0.1:${targetPort}/`, regions: ['us-east'], interval_seconds: INTERVAL_S }
  await createMonitors(createApi(origin, apiKey), MONITORS, changes)
  const counted = () => readMetric(operator, 'picket_verdict_results_total{kind="counted"}')
  await waitFor(async () => (await counted()) >= MONITORS, { timeoutMs: 180_000, everyMs: 1_000 })
  await pause(SETTLE_WITH_MONITORS_S * 1_000)
  const before = await counted()
  const busy = await measure(pid)
  const checks = (await counted()) - before
  const kuma = computeKumaUse(checks / SECONDS)
  const thousand = `${MONITORS.toLocaleString('en')} monitors at ${INTERVAL_S} s in one region`
  return [
    ...buildFigures('`npm start`, nothing to check', idle, 2, 450),
    ...buildFigures(`the same with ${thousand} (${(checks / SECONDS).toFixed(0)} checks a second)`, busy, 8, 550, kuma),
    figure('  Uptime Kuma with nothing to check', 'not measured'),
  ]
}

type Installation = { pid: number; origin: string; operator: string; apiKey: string }

async function startInstallation(t: Teardown): Promise<Installation> {
  const dataDir = mkdtempSync(join(tmpdir(), 'picket-idle-'))
  const [port, operatorPort] = [String(await reserveFreePort()), String(await reserveFreePort())]
  const child = spawn('npm', ['start'], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATA_DIR: dataDir,
      PORT: port,
      OPERATOR_PORT: operatorPort,
      GRPC_PORT: String(await reserveFreePort()),
      MAIL_PORT: String(await reserveFreePort()),
      DEFAULT_PLAN: 'business',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(async () => {
    if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit')
    rmSync(dataDir, { recursive: true, force: true })
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const [, apiKey] = /^\s+(svc_\w+)$/.exec(line) ?? []
    if (apiKey === undefined) continue
    child.stdout.resume()
    const [origin = '', operator = ''] = [port, operatorPort].map(one => `http://127.0.0.1:${one}`)
    return { pid: child.pid!, origin, operator, apiKey }
  }
  throw new Error('npm start ended before it was ready')
}

async function measure(pid: number): Promise<ResourceUse[]> {
  const before = readPrograms(pid)
  const startedMs = performance.now()
  await pause(SECONDS * 1_000)
  return computeUseByProgram(before, readPrograms(pid), performance.now() - startedMs)
}

function buildFigures(
  what: string,
  uses: ResourceUse[],
  maxPercent: number,
  maxMb: number,
  kuma: { percent: string; memory: string } | null = null,
): Figure[] {
  const sum = (of: (use: ResourceUse) => number) => uses.reduce((total, use) => total + of(use), 0)
  const percent = sum(use => use.cpuPercent)
  const mb = sum(use => use.memoryMb)
  const list = (of: (use: ResourceUse) => string) =>
    PROGRAMS.map(name => `${name} ${of(uses.find(use => use.name === name)!)}`)
  return [
    figure(
      `${what}: part of a core`,
      `${percent.toFixed(1)} %: ${list(use => use.cpuPercent.toFixed(2)).join(', ')}${kuma ? `; ${kuma.percent}` : ''}`,
      `≤ ${maxPercent} %`,
      percent <= maxPercent,
    ),
    figure(
      '  memory (proportional set size)',
      `${mb.toFixed(0)} MB: ${list(use => use.memoryMb.toFixed(0)).join(', ')}${kuma ? `; ${kuma.memory}` : ''}`,
      `≤ ${maxMb} MB`,
      mb <= maxMb,
    ),
  ]
}
