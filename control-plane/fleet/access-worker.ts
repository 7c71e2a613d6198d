import { type Loop, type LoopTools, startLoop } from '../platform/loop.ts'
import { logNowMs } from '../platform/nats.ts'
import type { NatsAccounts } from '../platform/nats-accounts.ts'
import { probeCredentials } from '../platform/nats-operator.ts'
import type { Desk } from './desk.ts'
import { revokedProbes } from './enrolment-store.ts'
import type { Link } from './link.ts'

/** JetStream's time is learned better now and then: a smaller change does not count as a step. */
const CLOCK_TOLERANCE_MS = 1_000

/**
 * Keeps out who was revoked, on gRPC and on NATS, and gives the others new credentials in time (decisions 11.6).
 * `accounts` null: NATS is not in operator mode.
 */
export function startAccess(desk: Desk, tools: LoopTools, accounts: NatsAccounts | null): Loop {
  return startLoop('fleet_access', 2 * desk.timing.roundMs, tools, async () => {
    renewCredentials(desk)
    // what was signed for them before ends by itself
    const revoked = await revokedProbes(desk.db, 2 * desk.timing.credentialsMs)
    const links = revoked.flatMap(({ id }) => desk.links.get(id) ?? [])
    for (const link of links) link.close('revoked')
    if (links.length > 0) desk.wake()
    await accounts?.publish(byRegion(revoked))
  })
}

/**
 * For NATS in operator mode; null when it is not. NATS judges by its own clock, so JetStream's time says when they end:
 * by PostgreSQL's, which may be wrong by an hour, they would have ended before they were used.
 */
export function natsCredentialsFor(
  { nats, timing }: Desk,
  { probeId, region }: Pick<Link, 'probeId' | 'region'>,
): { credentials: string; endMs: number } | null {
  if (nats.operator === null) return null
  const startMs = logNowMs(nats)
  const endMs = startMs + timing.credentialsMs
  const [nowS, endsS] = [Math.floor(startMs / 1_000), Math.ceil(endMs / 1_000)]
  return { credentials: probeCredentials(nats.operator, { probeId, region }, { nowS, endsS }), endMs }
}

/** Probes whose credentials are half through get new ones; so do those whose credentials a step of the clock has shortened or prolonged. */
function renewCredentials(desk: Desk): void {
  const { credentialsMs } = desk.timing
  const atMs = logNowMs(desk.nats)
  for (const link of desk.links.values()) {
    const leftMs = link.credentialsEndMs - atMs
    if (leftMs > credentialsMs / 2 && leftMs <= credentialsMs + CLOCK_TOLERANCE_MS) continue
    const renewed = natsCredentialsFor(desk, link)
    if (renewed === null) return
    link.send({ $case: 'natsCredentials', value: { credentials: renewed.credentials } })
    link.credentialsEndMs = renewed.endMs
  }
}

/** Ids in a fixed order, so that the same list reads the same. */
function byRegion(probes: { id: string; region: string }[]): Map<string, string[]> {
  const regions = new Map<string, string[]>()
  for (const { id, region } of probes) regions.set(region, [...(regions.get(region) ?? []), id].sort())
  return regions
}
