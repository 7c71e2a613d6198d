import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { listProcesses } from '../support/leaks.ts'
import { withTeardown } from '../support/teardown.ts'
import type { CheckOutcome } from './checks.ts'
import { type ChaosContext, prepareContext } from './context.ts'
import { canMount } from './disk.ts'
import { type AppliedFault, applyFaults } from './faults.ts'
import { collectFindings, type Findings } from './findings.ts'
import { type ChaosPlan, type ChaosScale, createChaosPlan, listProbeNames } from './plan.ts'
import { getWriteTimeoutMs, waitForEmptySpools, waitForStatuses, waitUntilDrained } from './settle.ts'
import { startSystem, waitUntilReady } from './system.ts'

type ChaosOptions = { seed: number; scale: Omit<ChaosScale, 'hasDisks'>; log: (line: string) => void }

/** `dir`: the folder of the data. It is deleted unless a check failed. */
export type ChaosReport = Findings & { dir: string; faults: AppliedFault[] }

/**
 * Starts a Picket of many processes, applies the faults of a seed's plan, waits until everything is processed, and compares
 * what was stored and sent with a ledger of all acknowledged messages. Throws when Picket cannot be started or read.
 */
export async function runChaos({ seed, scale: wanted, log }: ChaosOptions): Promise<ChaosReport> {
  const dir = mkdtempSync(join(tmpdir(), 'picket-chaos-'))
  const hasDisks = await withTeardown(async t => canMount(t, join(dir, 'disk')))
  if (!hasDisks) log('this machine cannot mount file systems: no disk will be filled')
  const scale = { ...wanted, hasDisks }
  const faults: AppliedFault[] = []
  let hasPassed = false
  const found = await withTeardown(async t => {
    const system = await startSystem(t, dir, scale)
    // a disk that is in memory only is copied next to the other data, unless all checks passed
    t.teardown(() => !hasPassed && [...system.disks.values()].map(disk => disk.keep()))
    const plan = createChaosPlan(seed, scale)
    const context = await prepareContext(t, seed, scale, system)
    log(`seed ${seed}: ${plan.faults.length} faults in ${scale.minutes} minutes begin; data in ${dir}`)
    const beganAtMs = Date.now()
    await runPlan(plan, context, fault => {
      faults.push(fault)
      log(`${seconds(fault.fromMs)} to ${seconds(fault.toMs)} ${fault.kind}: ${fault.what}`)
    })
    log('all faults have ended')
    const ends = await settle(context)
    const { checks, figures } = await collectFindings(
      context,
      faults.map(fault => ({ ...fault, fromMs: beganAtMs + fault.fromMs, toMs: beganAtMs + fault.toMs })),
    )
    hasPassed = [...ends, ...checks].every(({ violations }) => violations.length === 0)
    return { checks: [...ends, ...checks], figures }
  })
  const left = { statement: 'no process is left running', violations: listProcesses(dir).map(String) }
  if (hasPassed && left.violations.length === 0) rmSync(dir, { recursive: true, force: true })
  return { dir, faults, figures: found.figures, checks: [...found.checks, left] }
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`.padStart(9)

/** Applies faults and outages until the last one that ends has ended. */
async function runPlan(plan: ChaosPlan, context: ChaosContext, onDone: (fault: AppliedFault) => void): Promise<void> {
  const { targets } = context.system
  const outages = plan.outages.map(async outage => {
    await pause(outage.fromMs)
    targets.break(outage)
    if (outage.toMs === null) return
    await pause(outage.toMs - outage.fromMs)
    targets.restore(outage.monitor)
  })
  await Promise.all([...outages, applyFaults(plan.faults, context, onDone), pause(plan.lastsMs)])
}

/**
 * Waits until lasting outages are reported, all monitors are up again and no message is in flight, then stops the processes.
 * Each wait ends after LIMIT_MS; one that did is a violation.
 */
async function settle(context: ChaosContext): Promise<CheckOutcome[]> {
  const { scale, system, customers, monitorIds } = context
  const { targets, programs } = system
  const late: string[] = []
  const within = (wait: Promise<void>) => wait.catch((error: Error) => void late.push(error.message))
  await within(waitUntilReady(system.processes))
  const broken = targets.outages.filter(({ toMs }) => toMs === null).map(({ monitor }) => monitor)
  await within(
    waitForStatuses(
      system,
      broken.map(monitor => monitorIds[monitor]!),
      'down',
    ),
  )
  for (const monitor of broken) targets.restore(monitor)
  await within(waitForStatuses(system, monitorIds, 'up'))
  await customers.stop(getWriteTimeoutMs(scale))
  await within(waitForEmptySpools(context))
  const stop = (names: string[]) => Promise.all(names.map(name => programs.get(name)!.stop()))
  const probes = listProbeNames(scale)
  const codes = await stop(probes)
  await within(waitUntilDrained(context))
  codes.push(...(await stop(Object.keys(scale.controlPlanes))))
  return [
    { statement: 'everything is processed in time', violations: late },
    {
      statement: 'every process exits with 0 when it is stopped',
      violations: codes.filter(code => code !== 0).map(String),
    },
  ]
}
