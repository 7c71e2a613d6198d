import type { Egress } from '../../../shared/egress/types.ts'
import { jitterMs } from '../../foundation/platform/ids.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { now } from '../../foundation/platform/time/clock.ts'
import { ALIGNED, type LoopTools, startLoop } from '../../foundation/platform/time/loop.ts'
import { processDueWatches, refreshRdapBootstrap } from './actions.ts'
import { refreshDomain } from './domains/domain-actions.ts'
import { claimDueDomains } from './domains/domain-store.ts'
import { parseBootstrap } from './domains/rdap.ts'
import { claimRdapFetch, findRdapDocument } from './domains/rdap-bootstrap-store.ts'
import type { WhoisServer } from './domains/whois.ts'

const WATCHES_INTERVAL_MS = 5_000
const WATCHES_PER_BATCH = 200
const DOMAINS_INTERVAL_MS = 5_000
const DOMAINS_PER_BATCH = 4
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
  const { db, egress, publicUrl, rdapBaseUrl, rdapBootstrapUrl, whoisServer, log, metrics } = context
  const tools = { log, metrics }
  const lookUps = metrics.counter('picket_domain_lookups_total', 'Domains looked up at their registries', ['outcome'])

  const sendWarnings = async (signal: AbortSignal) => {
    while (!signal.aborted && (await processDueWatches(db, publicUrl, WATCHES_PER_BATCH, now())) === WATCHES_PER_BATCH);
  }
  const watches = startLoop('expiry-watches', WATCHES_INTERVAL_MS, tools, sendWarnings, ALIGNED)

  const lookUpDomains = async (signal: AbortSignal) => {
    while (!signal.aborted) {
      const claimed = await claimDueDomains(db, { now: now(), leaseMs: LEASE_MS, limit: DOMAINS_PER_BATCH })
      if (claimed.length === 0) return
      const bootstrap = parseBootstrap(await findRdapDocument(db))
      const registries = { egress, rdapBaseUrl, whoisServer, bootstrap, timeoutMs: QUERY_TIMEOUT_MS }
      await Promise.all(
        claimed.map(async domain => {
          lookUps.inc({ outcome: await refreshDomain(db, domain, registries, jitterMs, now) })
        }),
      )
    }
  }
  const domains = startLoop('expiry-domains', DOMAINS_INTERVAL_MS, tools, lookUpDomains, ALIGNED)

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
