import type { Egress } from '../../shared/egress/index.ts'
import { now } from '../platform/clock.ts'
import { jitterMs } from '../platform/ids.ts'
import { type LoopTools, startLoop } from '../platform/loop.ts'
import type { Db } from '../platform/postgres.ts'
import { lookAtDue, refreshBootstrap } from './actions.ts'
import { claimFetch, fetchedDocument } from './bootstrap-store.ts'
import { refreshDomain } from './domain-actions.ts'
import { claimDueDomains } from './domain-store.ts'
import { parseBootstrap } from './rdap.ts'
import type { WhoisServer } from './whois.ts'

const WATCHES_INTERVAL_MS = 5_000
const WATCHES_AT_ONCE = 200
const DOMAINS_INTERVAL_MS = 5_000
const DOMAINS_AT_ONCE = 4
const QUESTION_TIMEOUT_MS = 10_000
/** longer than RDAP and WHOIS together may take */
const LEASE_MS = 300_000
const FETCH_INTERVAL_MS = 600_000
const FETCH_RETRY_MS = 6 * 3_600_000

export type ExpiryContext = LoopTools & {
  db: Db
  egress: Egress
  /** where the dashboard is, without a slash at the end */
  publicUrl: string
  /** null: the bootstrap says whom to ask */
  rdapBaseUrl: string | null
  rdapBootstrapUrl: string
  whoisServer: WhoisServer
}

/** Warns of certificates and domains that end, and looks domains up once a day. Any number of processes may do so. */
export function startExpiryWorker(context: ExpiryContext): { stop(): Promise<void> } {
  const { db, egress, publicUrl, rdapBaseUrl, rdapBootstrapUrl, whoisServer, log, metrics } = context
  const tools = { log, metrics }
  const lookUps = metrics.counter('picket_domain_lookups_total', 'Domains looked up at their registries', ['outcome'])

  const watches = startLoop('expiry-watches', WATCHES_INTERVAL_MS, tools, async signal => {
    while (!signal.aborted && (await lookAtDue(db, publicUrl, WATCHES_AT_ONCE, now())) === WATCHES_AT_ONCE);
  })

  const domains = startLoop('expiry-domains', DOMAINS_INTERVAL_MS, tools, async signal => {
    while (!signal.aborted) {
      const claimed = await claimDueDomains(db, now(), LEASE_MS, DOMAINS_AT_ONCE)
      if (claimed.length === 0) return
      const bootstrap = parseBootstrap(await fetchedDocument(db))
      const registries = { egress, rdapBaseUrl, whoisServer, bootstrap, timeoutMs: QUESTION_TIMEOUT_MS }
      await Promise.all(
        claimed.map(async domain => {
          lookUps.inc({ outcome: await refreshDomain(db, domain, registries, jitterMs, now) })
        }),
      )
    }
  })

  const bootstrap = startLoop('expiry-bootstrap', FETCH_INTERVAL_MS, tools, async () => {
    if (rdapBaseUrl !== null) return
    const at = now()
    if (!(await claimFetch(db, new Date(at.getTime() + FETCH_RETRY_MS), at))) return
    await refreshBootstrap(db, egress, rdapBootstrapUrl, at).catch(err => {
      log.warn({ err }, 'the list of RDAP services could not be refreshed; the one at hand stays')
    })
  })

  return {
    async stop() {
      await Promise.all([watches.stop(), domains.stop(), bootstrap.stop()])
    },
  }
}
