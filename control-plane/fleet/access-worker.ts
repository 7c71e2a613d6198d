import { monotonicMs, nowMs } from '../platform/clock.ts'
import { type Loop, type LoopTools, startLoop } from '../platform/loop.ts'
import type { NatsAccounts } from '../platform/nats-accounts.ts'
import { probeCredentials } from '../platform/nats-operator.ts'
import type { Desk } from './desk.ts'
import { revokedProbes } from './enrolment-store.ts'
import type { Link } from './link.ts'

/**
 * Keeps out who was revoked, on gRPC and on NATS, and gives the others new credentials in time (decisions 11.6).
 * `accounts` null: NATS is not in operator mode.
 */
export function startAccess(desk: Desk, tools: LoopTools, accounts: NatsAccounts | null): Loop {
  return startLoop('fleet_access', 2 * desk.timing.roundMs, tools, async () => {
    renewCredentials(desk, monotonicMs())
    // what was signed for them before ends by itself
    const revoked = await revokedProbes(desk.db, 2 * desk.timing.credentialsMs)
    const links = revoked.flatMap(({ id }) => desk.links.get(id) ?? [])
    for (const link of links) link.close('revoked')
    if (links.length > 0) desk.wake()
    await accounts?.publish(byRegion(revoked))
  })
}

/** For NATS in operator mode; null when it is not. */
export function natsCredentialsFor({ nats, timing }: Desk, { probeId, region }: Link): string | null {
  if (nats.operator === null) return null
  const startMs = nowMs()
  const [nowS, endsS] = [Math.floor(startMs / 1_000), Math.ceil((startMs + timing.credentialsMs) / 1_000)]
  return probeCredentials(nats.operator, { probeId, region }, { nowS, endsS })
}

/** Probes whose credentials are half through get new ones. */
function renewCredentials(desk: Desk, atMs: number): void {
  for (const link of desk.links.values()) {
    if (atMs - link.credentialsMs < desk.timing.credentialsMs / 2) continue
    const credentials = natsCredentialsFor(desk, link)
    if (credentials !== null) link.send({ $case: 'natsCredentials', value: { credentials } })
    link.credentialsMs = atMs
  }
}

/** Ids in a fixed order, so that the same list reads the same. */
function byRegion(probes: { id: string; region: string }[]): Map<string, string[]> {
  const regions = new Map<string, string[]>()
  for (const { id, region } of probes) regions.set(region, [...(regions.get(region) ?? []), id].sort())
  return regions
}
