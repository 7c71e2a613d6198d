import { type RunHint, runHintSubject, stateHintSubject } from '../../shared/subjects.ts'
import { planOf } from './book.ts'
import type { Desk } from './desk.ts'
import { pump } from './grpc.ts'
import { readRunHint, readStateHint } from './messages.ts'
import { assignedTo, ownerOf } from './plan.ts'

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
    subscribe(stateHintSubject('*'), (region, data) => forwardStates(desk, region, data)),
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

/** `notProbeId`: another live probe of the region is asked, the same one whichever process looks. */
async function forwardRun(desk: Desk, region: string, hint: RunHint): Promise<void> {
  const { runId, monitorId, trigger, scheduledAtMs, notProbeId } = hint
  // a monitor may be asked for in the very moment in which it was made
  if (!desk.book.roster.entries.has(monitorId)) await desk.catchUp()
  const plan = planOf(desk.book, region)
  const owner = ownerOf(plan, monitorId)
  const spec = desk.book.roster.entries.get(monitorId)?.spec
  if (!owner || !spec) return
  const others = plan.probes.map(probe => probe.id).filter(id => id !== notProbeId)
  const probeId = notProbeId === undefined || owner !== notProbeId ? owner : assignedTo(monitorId, others)
  const link = desk.links.get(probeId ?? '')
  if (!link) return
  if (!link.isFree()) {
    desk.meters.lost.inc({ what: 'run' })
    return
  }
  // the probe that checks it anyway has the check, unless it is still on its way
  const isKnown = probeId === owner && !link.outbox.snapshot && !link.outbox.dirty.has(monitorId) && !link.isPumping
  link.send({
    $case: 'runNow',
    value: { runId, monitorId, trigger, scheduledAtMs, spec: isKnown ? undefined : spec },
  })
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
