import type { Egress } from '../../../shared/egress/types.ts'
import { createKeyCounter } from '../../foundation/platform/concurrency/key-counter.ts'
import { createWorkPool } from '../../foundation/platform/concurrency/work-pool.ts'
import { jitterMs } from '../../foundation/platform/ids.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { ALIGNED, type LoopTools, startLoop } from '../../foundation/platform/time/loop.ts'
import { processDueWatches, refreshRdapBootstrap } from './actions.ts'
import { refreshDomain } from './domains/domain-actions.ts'
import { claimDueDomains, type DueDomain } from './domains/domain-store.ts'
import { getTopLevelDomain, parseBootstrap } from './domains/rdap.ts'
import { claimRdapFetch, findRdapDocument } from './domains/rdap-bootstrap-store.ts'
import type { Registries } from './domains/registry-reader.ts'
import type { WhoisServer } from './domains/whois.ts'

const WATCHES_INTERVAL_MS = 5_000
const WATCHES_PER_BATCH = 200
const DOMAINS_INTERVAL_MS = 1_000
const MAX_CONCURRENT_LOOKUPS = 32
/** A top-level domain whose registry does not answer takes only these places. */
const MAX_LOOKUPS_PER_TLD = 4
const QUERY_TIMEOUT_MS = 10_000
/** Longer than RDAP and WHOIS together may take. */
const LEASE_MS = 300_000
const FETCH_INTERVAL_MS = 600_000
const FETCH_RETRY_MS = 6 * 3_600_000

type ExpiryContext = LoopTools & {
  db: Db
  egress: Egress
  /** address of the dashboard, without a trailing slash */
  publicUrl: string
  /** null: use the bootstrap list */
  rdapBaseUrl: string | null
  rdapBootstrapUrl: string
  whoisServer: WhoisServer
}

/** Sends expiry warnings and looks up domains once a day. Any number of processes may run it. */
export function startExpiryWorker(context: ExpiryContext): { stop(): Promise<void> } {
  const { db, egress, publicUrl, rdapBaseUrl, rdapBootstrapUrl, log, metrics } = context
  const tools = { log, metrics }

  const sendWarnings = async (signal: AbortSignal) => {
    while (!signal.aborted && (await processDueWatches(db, publicUrl, WATCHES_PER_BATCH, now())) === WATCHES_PER_BATCH);
  }
  const watches = startLoop('expiry-watches', WATCHES_INTERVAL_MS, tools, sendWarnings, ALIGNED)

  const domains = startDomainLookups(context)

  const bootstrap = startLoop('expiry-bootstrap', FETCH_INTERVAL_MS, tools, async () => {
    if (rdapBaseUrl !== null) return
    const at = now()
    if (!(await claimRdapFetch(db, new Date(at.getTime() + FETCH_RETRY_MS), at))) return
    await refreshRdapBootstrap(db, egress, rdapBootstrapUrl, at).catch(err => {
      log.warn({ err }, 'cannot refresh the list of RDAP services; keeping the old one')
    })
  })

  return {
    async stop() {
      await Promise.all([watches.stop(), domains.stop(), bootstrap.stop()])
    },
  }
}

/**
 * Looks up domains that are due. Each second those that find a free place, so a slow registry delays others only when
 * several of its top-level domains take all places. `stop` waits for the look-ups that run.
 */
function startDomainLookups(context: ExpiryContext): { stop(): Promise<void> } {
  const { db, egress, rdapBaseUrl, whoisServer, log, metrics } = context
  const lookUps = metrics.counter('picket_domain_lookups_total', 'Domains looked up at their registries', ['outcome'])
  const running = createKeyCounter()
  const pool = createWorkPool({ maxConcurrent: MAX_CONCURRENT_LOOKUPS })

  const lookUp = async (domain: DueDomain, registries: Registries) => {
    const tld = getTopLevelDomain(domain.name)
    running.add(tld, 1)
    try {
      lookUps.inc({ outcome: await refreshDomain(db, domain, registries, jitterMs, now) })
    } catch (err) {
      // an internal error: the claim expires, and other domains are not affected
      log.error({ err, domain: domain.name }, 'could not look up a domain')
      lookUps.inc({ outcome: 'internal_error' })
    } finally {
      running.add(tld, -1)
    }
  }

  const round = async () => {
    const limit = pool.free()
    if (limit === 0) return
    const places = { limitPerTld: MAX_LOOKUPS_PER_TLD, running: running.counts }
    const claimed = await claimDueDomains(db, places, { now: now(), leaseMs: LEASE_MS, limit })
    if (claimed.length === 0) return
    const bootstrap = parseBootstrap(await findRdapDocument(db))
    const registries = { egress, rdapBaseUrl, whoisServer, bootstrap, timeoutMs: QUERY_TIMEOUT_MS }
    for (const domain of claimed) pool.start(() => lookUp(domain, registries))
  }
  const loop = startLoop('expiry-domains', DOMAINS_INTERVAL_MS, { log, metrics }, round, ALIGNED)
  return {
    async stop() {
      await loop.stop()
      await pool.waitUntilIdle()
    },
  }
}
