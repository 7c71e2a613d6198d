import { Trigger } from '../../shared/result.ts'
import {
  type DifferenceHint,
  differenceHintSubject,
  type RunHint,
  runDoneSubject,
  runHintSubject,
  shotHintSubject,
  stateHintSubject,
  WITNESS_SUBJECT,
} from '../../shared/subjects.ts'
import { monotonicMs } from '../platform/clock.ts'
import { planOf } from './book.ts'
import type { Desk } from './desk.ts'
import { pump } from './grpc.ts'
import { readRunHint, readScreenshotOrder, readStateHint } from './messages.ts'
import { addRun } from './outbox.ts'
import { needOf, ownerOf, probeFor } from './plan.ts'
import { type Run, runOfMonitor } from './run-of-monitor.ts'
import { takeInHand } from './runs-in-hand.ts'
import { openSpec } from './sealed-spec.ts'
import { forwardWitness } from './witness-actions.ts'

/**
 * Passes on what the verdict and the API say on core NATS: region states to the probe that checks the monitor, and
 * checks at once. Every fleet process hears everything and serves the probes that it has (decisions 4.2, 4.5).
 */
export function readHints(desk: Desk): { stop(): void } {
  const subscribe = (subject: string, take: (region: string, data: unknown) => void) =>
    desk.nats.connection.subscribe(subject, {
      callback(error, message) {
        if (!error) take(regionOf(message), parsed(message))
      },
    })
  const subscriptions = [
    subscribe(runHintSubject('*'), (region, data) => {
      const hint = readRunHint(data)
      if (!hint) return
      forwardRun(desk, region, hint).catch(error => desk.log.error({ err: error, region }, 'a hint was lost'))
    }),
    subscribe(WITNESS_SUBJECT, (_, data) => forwardWitness(desk, data)),
    subscribe(stateHintSubject('*'), (region, data) => forwardStates(desk, region, data)),
    subscribe(differenceHintSubject('*'), (region, data) => forwardDifference(desk, region, data)),
    desk.nats.connection.subscribe(shotHintSubject('*'), {
      callback(error, message) {
        if (!error) forwardShot(desk, regionOf(message), message.data)
      },
    }),
  ]
  return {
    stop() {
      for (const subscription of subscriptions) subscription.unsubscribe()
    },
  }
}

function forwardStates(desk: Desk, region: string, data: unknown): void {
  const plan = planOf(desk.book, region)
  for (const { monitorId, state } of readStateHint(data)) {
    const link = desk.links.get(ownerOf(plan, monitorId) ?? '')
    if (!link) continue
    link.outbox.states.set(monitorId, state)
    pump(desk, link)
  }
}

/** A probe with a browser is to take a screenshot; with what it has to look at now. */
function forwardShot(desk: Desk, probeId: string, data: Uint8Array): void {
  const order = readScreenshotOrder(data)
  const spec = order && desk.book.roster.entries.get(order.monitorId)?.spec
  const link = desk.links.get(probeId)
  if (!link || !spec) return
  if (link.isFree()) link.send({ $case: 'takeScreenshot', value: { order, spec } })
  else desk.meters.lost.inc({ what: 'screenshot' })
}

function forwardDifference(desk: Desk, region: string, data: unknown): void {
  const hint = data as Partial<DifferenceHint> | null
  if (typeof hint?.monitorId !== 'string') return
  const link = desk.links.get(ownerOf(planOf(desk.book, region), hint.monitorId) ?? '')
  const difference = typeof hint.difference === 'number' ? hint.difference : undefined
  link?.send({ $case: 'screenshotDifference', value: { monitorId: hint.monitorId, difference } })
}

/** Every process comes to the same probe; the one that has its link passes the hint on, once. */
async function forwardRun(desk: Desk, region: string, hint: RunHint): Promise<void> {
  const { runId, monitorId, trigger, scheduledAtMs } = hint
  const run = hint.sealedSpec === undefined ? await runOfKnown(desk, region, hint) : runOfTest(desk, region, hint)
  const inHand = desk.runs.get(runId)
  if (inHand?.answer) desk.nats.connection.publish(runDoneSubject(runId), inHand.answer)
  const link = desk.links.get(run?.probeId ?? '')
  if (!run || !link || inHand?.answer || inHand?.link.isOpen) return
  if (!addRun(link.outbox, { runId, monitorId, trigger, scheduledAtMs, spec: run.spec, tenant: run.tenant })) {
    desk.meters.lost.inc({ what: 'run' })
    return
  }
  // nobody waits for a second opinion, and nobody repeats it
  if (trigger === Trigger.RUN_NOW) takeInHand(desk.runs, runId, link, monotonicMs())
  pump(desk, link)
}

/** A monitor may be asked for just after it was created or changed. */
async function runOfKnown(desk: Desk, region: string, hint: RunHint): Promise<Run | null> {
  const { monitorId, configVersion = 0 } = hint
  if ((desk.book.roster.entries.get(monitorId)?.configVersion ?? -1) < configVersion) await desk.catchUp()
  return runOfMonitor(desk.book, region, hint)
}

/** Any live probe that can: which one, the run says. */
function runOfTest(desk: Desk, region: string, { runId, sealedSpec = '' }: RunHint): Run | null {
  const spec = openSpec(sealedSpec, runId, desk.secrets)
  const probeId = probeFor(planOf(desk.book, region), runId, needOf(spec))
  return probeId === null ? null : { probeId, spec }
}

type Message = { subject: string; json(): unknown }

const regionOf = (message: Message) => message.subject.slice(message.subject.lastIndexOf('.') + 1)

function parsed(message: Message): unknown {
  try {
    return message.json()
  } catch {
    return null
  }
}
