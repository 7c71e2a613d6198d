import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { processesOf } from '../support/leaks.ts'
import { withTeardown } from '../support/teardown.ts'
import type { Check } from './checks.ts'
import { canMount } from './disk.ts'
import { type DoneFault, inflict } from './faults.ts'
import { type Findings, findingsOf } from './findings.ts'
import { type Plan, planOf, probeNames, type Scale } from './plan.ts'
import { type Scene, setScene } from './scene.ts'
import { answerMs, untilNothingIsLeft, untilSpoolsEmpty, untilStatuses } from './settle.ts'
import { startSystem, untilReady } from './system.ts'

export type ChaosOptions = { seed: number; scale: Omit<Scale, 'hasDisks'>; say: (line: string) => void }

/** `dir`: where the data was, and is when a check does not hold. */
export type Report = Findings & { dir: string; faults: DoneFault[] }

/**
 * Starts a Picket of many processes, breaks it by the plan of a seed, waits until all is settled, and compares what it
 * stored and told with a ledger of everything that was acknowledged. Throws when it cannot even be started or looked at.
 */
export async function runChaos({ seed, scale: wanted, say }: ChaosOptions): Promise<Report> {
  const dir = mkdtempSync(join(tmpdir(), 'picket-chaos-'))
  const hasDisks = await withTeardown(async t => canMount(t, join(dir, 'disk')))
  if (!hasDisks) say('nothing can be mounted here: no disk will be full')
  const scale = { ...wanted, hasDisks }
  const faults: DoneFault[] = []
  let isGood = false
  const found = await withTeardown(async t => {
    const system = await startSystem(t, dir, scale)
    // what is in memory only is copied beside the rest, unless all was well
    t.teardown(() => !isGood && [...system.disks.values()].map(disk => disk.keep()))
    const plan = planOf(seed, scale)
    const scene = await setScene(t, seed, scale, system)
    say(`seed ${seed}: ${plan.faults.length} faults in ${scale.minutes} minutes begin; data in ${dir}`)
    const beganAtMs = Date.now()
    await goThrough(plan, scene, fault => {
      faults.push(fault)
      say(`${seconds(fault.fromMs)} to ${seconds(fault.toMs)} ${fault.kind}: ${fault.what}`)
    })
    say('the faults are over')
    const ends = await settle(scene)
    const { checks, figures } = await findingsOf(
      scene,
      faults.map(fault => ({ ...fault, fromMs: beganAtMs + fault.fromMs, toMs: beganAtMs + fault.toMs })),
    )
    isGood = [...ends, ...checks].every(({ against }) => against.length === 0)
    return { checks: [...ends, ...checks], figures }
  })
  const left = { sentence: 'no process is left', against: processesOf(dir).map(String) }
  if (isGood && left.against.length === 0) rmSync(dir, { recursive: true, force: true })
  return { dir, faults, figures: found.figures, checks: [...found.checks, left] }
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`.padStart(9)

/** Faults and outages, until the last of those that end. */
async function goThrough(plan: Plan, scene: Scene, onDone: (fault: DoneFault) => void): Promise<void> {
  const { targets } = scene.system
  const outages = plan.outages.map(async outage => {
    await pause(outage.fromMs)
    targets.break(outage)
    if (outage.toMs === null) return
    await pause(outage.toMs - outage.fromMs)
    targets.restore(outage.monitor)
  })
  await Promise.all([...outages, inflict(plan.faults, scene, onDone), pause(plan.lastsMs)])
}

/**
 * Waits, at most as long as a hang, until lasting outages are reported, everything is up again and nothing is on its way;
 * then stops the processes. What does not come about is against the check.
 */
async function settle(scene: Scene): Promise<Check[]> {
  const { scale, system, customers, monitorIds } = scene
  const { targets, programs } = system
  const late: string[] = []
  const within = (wait: Promise<void>) => wait.catch((error: Error) => void late.push(error.message))
  await within(untilReady(system.processes))
  const broken = targets.outages.filter(({ toMs }) => toMs === null).map(({ monitor }) => monitor)
  await within(
    untilStatuses(
      system,
      broken.map(monitor => monitorIds[monitor]!),
      'down',
    ),
  )
  for (const monitor of broken) targets.restore(monitor)
  await within(untilStatuses(system, monitorIds, 'up'))
  await customers.stop(answerMs(scale))
  await within(untilSpoolsEmpty(scene))
  const stop = (names: string[]) => Promise.all(names.map(name => programs.get(name)!.stop()))
  const probes = probeNames(scale)
  const codes = await stop(probes)
  await within(untilNothingIsLeft(scene))
  codes.push(...(await stop(Object.keys(scale.controlPlanes))))
  return [
    { sentence: 'all is settled in time', against: late },
    { sentence: 'every process ends well when it is asked to', against: codes.filter(code => code !== 0).map(String) },
  ]
}
