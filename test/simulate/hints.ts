import { planOf } from '../../control-plane/fleet/book.ts'
import type { Link } from '../../control-plane/fleet/link.ts'
import { takeOpinion } from '../../control-plane/fleet/opinions.ts'
import { addRun } from '../../control-plane/fleet/outbox.ts'
import { ownerOf } from '../../control-plane/fleet/plan.ts'
import { runOfMonitor } from '../../control-plane/fleet/run-of-monitor.ts'
import { regionsToAsk } from '../../control-plane/fleet/silence.ts'
import { giveToWitnesses } from '../../control-plane/fleet/witness.ts'
import type { Hint } from '../../control-plane/results/hints.ts'
import type { ProbeMessage, RegionState } from '../../proto/gen/probe/v1/fleet.ts'
import { Trigger } from '../../shared/result.ts'
import { type RunHint, runHintSubject, WITNESS_SUBJECT, type WitnessHint } from '../../shared/subjects.ts'
import type { FleetDesk } from './fleet.ts'

/** Messages on core NATS between processes of the control plane; they may be lost. */
export type Hints = {
  publish: (hint: Hint) => void
  /** until `take` answers false */
  subscribe: (take: (hint: Hint) => boolean) => void
  newId: () => string
  /** JetStream's time as processes of the control plane know it; null: not yet */
  logNowMs: () => number
}

const PUBLISHED_AFTER_MS = 2

type StatesBody = { states: { monitorId: string; state: RegionState }[] }

/** As `fleet/reader.ts`: hints go on to the probe that they concern, by the process that has its link. */
export function hearHints(desk: FleetDesk): void {
  desk.hints.subscribe(({ subject, body }) => {
    if (!desk.host.isRunning()) return desk.host.isAlive()
    const [, kind, region = ''] = subject.split('.')
    if (subject === WITNESS_SUBJECT) forwardWitness(desk, body as WitnessHint)
    else if (kind === 'state') forwardStates(desk, region, body as StatesBody)
    else forwardRun(desk, region, body as RunHint)
    return true
  })
}

function forwardStates(desk: FleetDesk, region: string, { states }: StatesBody): void {
  const plan = planOf(desk.book, region)
  for (const { monitorId, state } of states) {
    const link = desk.links.get(ownerOf(plan, monitorId) ?? '')
    if (!link) continue
    link.outbox.states.set(monitorId, state)
    desk.pump(link)
  }
}

function forwardRun(desk: FleetDesk, region: string, hint: RunHint): void {
  const { runId, monitorId, trigger, scheduledAtMs } = hint
  const run = runOfMonitor(desk.book, region, hint)
  const link = desk.links.get(run?.probeId ?? '')
  if (!run || !link) return
  addRun(link.outbox, { runId, monitorId, trigger, scheduledAtMs, spec: run.spec })
  desk.pump(link)
}

function forwardWitness(desk: FleetDesk, hint: WitnessHint): void {
  const { given } = giveToWitnesses(desk, hint, desk.host.machine.monotonicMs(), desk.hints.newId)
  for (const link of given) desk.pump(link)
}

/** As `hear` of `fleet/grpc.ts`: a first silence, and what a probe that does not check the monitor itself saw. */
export function hearProbe(desk: FleetDesk, link: Link, body: NonNullable<ProbeMessage['body']>): void {
  const { book, hints, host, stream } = desk
  if (body.$case === 'silent') {
    for (const region of regionsToAsk(book, link, body.value, host.machine.monotonicMs())) {
      const hint: RunHint = {
        runId: hints.newId(),
        monitorId: body.value.monitorId,
        trigger: Trigger.SECOND_OPINION,
        scheduledAtMs: hints.logNowMs(),
      }
      hints.publish({ subject: runHintSubject(region), body: hint })
    }
  }
  if (body.$case !== 'runDone') return
  const opinion = takeOpinion(desk, link, body.value)
  if (!opinion) return
  const { subject, data, id } = opinion
  host.machine.after(PUBLISHED_AFTER_MS, () => stream.store(subject, data, id))
}
