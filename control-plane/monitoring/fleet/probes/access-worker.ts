import type { NatsAccountPublisher } from '../../../foundation/platform/nats/account-publisher.ts'
import { jetstreamNowMs } from '../../../foundation/platform/nats/client.ts'
import { buildProbeCredentials } from '../../../foundation/platform/nats/operator.ts'
import { monotonicMs } from '../../../foundation/platform/time/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../../../foundation/platform/time/loop.ts'
import type { FleetContext } from '../context.ts'
import type { ProbeSession } from '../sessions/session.ts'
import { computeRevokedWithinMs, type FleetTiming } from '../timing.ts'
import { listRevokedProbes } from './enrolment-store.ts'

/** The time between two rounds that disconnect revoked probes. */
export const computeAccessIntervalMs = ({ roundIntervalMs }: FleetTiming): number => 2 * roundIntervalMs

/** How often the revoked probes are read although nothing shows that there are others. */
const READ_EVERY_ROUNDS = 15

/** `wake`: on NOTIFY "probes_revoked". */
type AccessWorker = Loop & {
  /** Reads the revoked probes now when one of these ids is new. Each round of the fleet calls it with those that it read. */
  follow(probeIds: readonly string[]): void
}

/** The estimate of JetStream's time is corrected from time to time. A smaller change does not count as a clock step. */
const CLOCK_TOLERANCE_MS = 1_000

/**
 * Closes the sessions of revoked probes, publishes revocations to NATS, and renews the NATS credentials of all other probes
 * in time (docs/design/assignments.md#credentials). `accounts` null: NATS is not in operator mode.
 */
export function startAccessWorker(
  context: FleetContext,
  tools: LoopTools,
  accounts: NatsAccountPublisher | null,
): AccessWorker {
  const intervalMs = computeAccessIntervalMs(context.timing)
  let revoked: { id: string; region: string }[] = []
  let isReadDue = true
  let readMs = Number.NEGATIVE_INFINITY
  const read = async () => {
    isReadDue = false
    readMs = monotonicMs()
    revoked = await listRevokedProbes(context.db, computeRevokedWithinMs(context.timing)).catch(error => {
      isReadDue = true
      throw error
    })
  }
  const loop = startLoop('fleet_access', intervalMs, tools, async () => {
    renewCredentials(context)
    if (isReadDue || monotonicMs() - readMs > READ_EVERY_ROUNDS * intervalMs) await read()
    const sessions = revoked.flatMap(({ id }) => context.sessions.get(id) ?? [])
    for (const session of sessions) session.close('revoked')
    if (sessions.length > 0) context.wake()
    await accounts?.publish(groupByRegion(revoked))
  })
  const wake = () => {
    isReadDue = true
    loop.wake()
  }
  return {
    stop: loop.stop,
    wake,
    follow(probeIds) {
      const known = new Set(revoked.map(({ id }) => id))
      if (probeIds.some(id => !known.has(id))) wake()
    },
  }
}

/**
 * Issues NATS credentials for a probe, or null when NATS is not in operator mode. NATS checks the expiry by its own clock,
 * so it is computed from JetStream's time. PostgreSQL's clock may be wrong by an hour, and credentials could expire before
 * their first use.
 */
export function issueNatsCredentials(
  { nats, timing }: FleetContext,
  { probeId, region }: Pick<ProbeSession, 'probeId' | 'region'>,
): { credentials: string; endMs: number } | null {
  if (nats.operator === null) return null
  const startMs = jetstreamNowMs(nats)
  const endMs = startMs + timing.credentialsLifetimeMs
  const [nowS, endsS] = [Math.floor(startMs / 1_000), Math.ceil(endMs / 1_000)]
  return { credentials: buildProbeCredentials(nats.operator, { probeId, region }, { nowS, endsS }), endMs }
}

/** Renews credentials after half of their lifetime, and those that a clock step has shortened or prolonged. */
function renewCredentials(context: FleetContext): void {
  const { credentialsLifetimeMs: credentialsMs } = context.timing
  const atMs = jetstreamNowMs(context.nats)
  for (const session of context.sessions.values()) {
    const leftMs = session.credentialsEndMs - atMs
    if (leftMs > credentialsMs / 2 && leftMs <= credentialsMs + CLOCK_TOLERANCE_MS) continue
    const renewed = issueNatsCredentials(context, session)
    if (renewed === null) return
    session.send({ $case: 'natsCredentials', value: { credentials: renewed.credentials } })
    session.credentialsEndMs = renewed.endMs
  }
}

/** Groups probes by region, with their ids in a fixed order, so that equal lists are equal as text. */
function groupByRegion(probes: { id: string; region: string }[]): Map<string, string[]> {
  const regions = new Map<string, string[]>()
  for (const { id, region } of probes) regions.set(region, [...(regions.get(region) ?? []), id].sort())
  return regions
}
