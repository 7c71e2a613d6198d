import type { NatsAccountPublisher } from '../../../foundation/platform/nats/account-publisher.ts'
import { jetstreamNowMs } from '../../../foundation/platform/nats/client.ts'
import { buildProbeCredentials } from '../../../foundation/platform/nats/operator.ts'
import { type Loop, type LoopTools, startLoop } from '../../../foundation/platform/time/loop.ts'
import type { FleetContext } from '../context.ts'
import type { ProbeSession } from '../sessions/session.ts'
import { listRevokedProbes } from './enrolment-store.ts'

/** JetStream's time is learned better now and then: a smaller change does not count as a step. */
const CLOCK_TOLERANCE_MS = 1_000

/**
 * Keeps out who was revoked, on gRPC and on NATS, and gives the others new credentials in time (decisions 11.6).
 * `accounts` null: NATS is not in operator mode.
 */
export function startAccessWorker(
  context: FleetContext,
  tools: LoopTools,
  accounts: NatsAccountPublisher | null,
): Loop {
  return startLoop('fleet_access', 2 * context.timing.roundIntervalMs, tools, async () => {
    renewCredentials(context)
    // what was signed for them before ends by itself
    const revoked = await listRevokedProbes(context.db, 2 * context.timing.credentialsLifetimeMs)
    const sessions = revoked.flatMap(({ id }) => context.sessions.get(id) ?? [])
    for (const session of sessions) session.close('revoked')
    if (sessions.length > 0) context.wake()
    await accounts?.publish(groupByRegion(revoked))
  })
}

/**
 * For NATS in operator mode; null when it is not. NATS judges by its own clock, so JetStream's time says when they end:
 * by PostgreSQL's, which may be wrong by an hour, they would have ended before they were used.
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

/** Probes whose credentials are half through get new ones; so do those whose credentials a step of the clock has shortened or prolonged. */
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

/** Ids in a fixed order, so that the same list reads the same. */
function groupByRegion(probes: { id: string; region: string }[]): Map<string, string[]> {
  const regions = new Map<string, string[]>()
  for (const { id, region } of probes) regions.set(region, [...(regions.get(region) ?? []), id].sort())
  return regions
}
