import { getRegionPlan } from '../../control-plane/monitoring/fleet/assignments/assignment-table.ts'
import { findOwner } from '../../control-plane/monitoring/fleet/assignments/region-plan.ts'
import { findRunTarget } from '../../control-plane/monitoring/fleet/on-demand/run-target.ts'
import { buildOpinion } from '../../control-plane/monitoring/fleet/second-opinions/opinion.ts'
import { pickRegionsToAsk } from '../../control-plane/monitoring/fleet/second-opinions/silent-target.ts'
import { queueWitnessRuns } from '../../control-plane/monitoring/fleet/second-opinions/witness.ts'
import type { ProbeSession } from '../../control-plane/monitoring/fleet/sessions/session.ts'
import { queueRun } from '../../control-plane/monitoring/fleet/sessions/sync-queue.ts'
import type { Hint } from '../../control-plane/verdict/reader/commit/hints.ts'
import type { ProbeMessage, RegionState } from '../../proto/gen/probe/v1/fleet.ts'
import { Trigger } from '../../shared/checks/result.ts'
import { type RunHint, runHintSubject, WITNESS_SUBJECT, type WitnessHint } from '../../shared/nats/subjects.ts'
import type { FleetProcessContext } from './fleet.ts'

/** Messages on core NATS between processes of the control plane. They may be lost. */
export type Hints = {
  publish: (hint: Hint) => void
  /** Calls `take` for each hint until it returns false. */
  subscribe: (take: (hint: Hint) => boolean) => void
  createId: () => string
  /** JetStream's time as processes of the control plane know it */
  logNowMs: () => number
}

const PUBLISHED_AFTER_MS = 2

type StatesBody = { states: { monitorId: string; state: RegionState }[] }

/** Like `startHintReader`: the process that has the session of the probe concerned forwards the hint to it. */
export function forwardHints(context: FleetProcessContext): void {
  context.hints.subscribe(({ subject, body }) => {
    if (!context.host.isRunning()) return context.host.isAlive()
    const [, kind, region = ''] = subject.split('.')
    if (subject === WITNESS_SUBJECT) forwardWitness(context, body as WitnessHint)
    else if (kind === 'state') forwardStates(context, region, body as StatesBody)
    else forwardRun(context, region, body as RunHint)
    return true
  })
}

function forwardStates(context: FleetProcessContext, region: string, { states }: StatesBody): void {
  const plan = getRegionPlan(context.assignments, region)
  for (const { monitorId, state } of states) {
    const session = context.sessions.get(findOwner(plan, monitorId) ?? '')
    if (!session) continue
    session.syncQueue.states.set(monitorId, state)
    context.flush(session)
  }
}

function forwardRun(context: FleetProcessContext, region: string, hint: RunHint): void {
  const { runId, monitorId, trigger, scheduledAtMs } = hint
  const run = findRunTarget(context.assignments, region, hint)
  const session = context.sessions.get(run?.probeId ?? '')
  if (!run || !session) return
  queueRun(session.syncQueue, { runId, monitorId, trigger, scheduledAtMs, spec: run.spec })
  context.flush(session)
}

function forwardWitness(context: FleetProcessContext, hint: WitnessHint): void {
  const { given } = queueWitnessRuns(context, hint, context.host.machine.monotonicMs(), context.hints.createId)
  for (const session of given) context.flush(session)
}

/** Like `handleMessage` of `sessions/grpc.ts`: handles a first unanswered check, and results of probes of other regions. */
export function handleProbeMessage(
  context: FleetProcessContext,
  session: ProbeSession,
  body: NonNullable<ProbeMessage['body']>,
): void {
  const { assignments, hints, host, stream } = context
  if (body.$case === 'silent') {
    for (const region of pickRegionsToAsk(assignments, session, body.value, host.machine.monotonicMs())) {
      const hint: RunHint = {
        runId: hints.createId(),
        monitorId: body.value.monitorId,
        trigger: Trigger.SECOND_OPINION,
        scheduledAtMs: hints.logNowMs(),
      }
      hints.publish({ subject: runHintSubject(region), body: hint })
    }
  }
  if (body.$case !== 'runDone') return
  const opinion = buildOpinion(context, session, body.value)
  if (!opinion) return
  const { subject, data, id } = opinion
  host.machine.after(PUBLISHED_AFTER_MS, () => stream.store(subject, data, id))
}
