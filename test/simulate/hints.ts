import { planOf } from '../../control-plane/fleet/book.ts'
import type { Link } from '../../control-plane/fleet/link.ts'
import { addRun } from '../../control-plane/fleet/outbox.ts'
import { needOf, ownerOf, probeFor } from '../../control-plane/fleet/plan.ts'
import { regionsToAsk } from '../../control-plane/fleet/silence.ts'
import type { Hint } from '../../control-plane/results/hints.ts'
import type { ProbeMessage, RegionState } from '../../proto/gen/probe/v1/fleet.ts'
import { isRunRefusal, ResultBatch, Trigger } from '../../shared/result.ts'
import { partitionOf, type RunHint, resultSubject, WITNESS_SUBJECT, type WitnessHint } from '../../shared/subjects.ts'
import type { FleetDesk } from './fleet.ts'
import { forwardWitness, publishWitnessed } from './witness.ts'

/** Messages on core NATS between processes of the control plane; they may be lost. */
export type Hints = {
  publish: (hint: Hint) => void
  /** until `take` answers false */
  subscribe: (take: (hint: Hint) => boolean) => void
  newId: () => string
  /** JetStream's time as processes of the control plane know it; null: not yet */
  logNowMs: () => number
}

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
  const { runId, monitorId, trigger, scheduledAtMs, notProbeId } = hint
  const plan = planOf(desk.book, region)
  const owner = ownerOf(plan, monitorId)
  const spec = desk.book.roster.entries.get(monitorId)?.spec
  if (!owner || !spec) return
  const probeId = owner === notProbeId ? probeFor(plan, monitorId, needOf(spec), notProbeId) : owner
  const link = desk.links.get(probeId ?? '')
  if (!link) return
  addRun(link.outbox, { runId, monitorId, trigger, scheduledAtMs, spec: probeId === owner ? undefined : spec })
  desk.pump(link)
}

/** As `hear` of `fleet/grpc.ts`: a first silence, and the opinion of a probe that does not check the monitor itself. */
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
      hints.publish({ subject: `HINT.run.${region}`, body: hint })
    }
  }
  if (body.$case !== 'runDone') return
  const { runId, result } = body.value
  const run = desk.runs.get(runId)
  if (run?.witnessed) {
    desk.runs.delete(runId)
    if (result && run.link === link) publishWitnessed(desk, link, runId, run.witnessed, result)
    return
  }
  if (result?.trigger !== Trigger.SECOND_OPINION || isRunRefusal(result)) return
  const plan = planOf(book, link.region)
  const owner = ownerOf(plan, result.monitorId)
  const entry = book.roster.entries.get(result.monitorId)
  if (!owner || owner === link.probeId || !entry) return
  const opinion = { ...result, trigger: Trigger.OTHER_PROBE, configVersion: entry.configVersion, epoch: plan.epoch }
  const batch = { probeId: link.probeId, region: link.region, results: [opinion] }
  host.machine.after(2, () =>
    stream.store(
      resultSubject(partitionOf(result.monitorId), link.region),
      ResultBatch.encode(batch).finish(),
      `${runId}.${link.probeId}`,
    ),
  )
}
