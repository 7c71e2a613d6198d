import { normalizeHost } from '../../../shared/egress/guard/host.ts'
import type { Metrics } from '../../../shared/process/metrics.ts'
import { initializeCounter } from '../../../shared/process/zero-counters.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { createQueuedLookup } from '../../foundation/web/limits/queued-lookup.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { isDomainServed } from './store.ts'

/**
 * One look-up takes about a millisecond, so this is room for thousands of new names a second, and leaves connections of the
 * pool to others. Caddy waits ten seconds for an answer.
 */
const LIMITS = { atOnce: 2, mostWaiting: 10_000, patienceMs: 10_000 }

type TlsCheckContext = { db: Db; metrics: Metrics; ownHosts: string[] }

/**
 * `GET /internal/tls-check?domain=`: 200 where the reverse proxy may fetch a certificate, 404 elsewhere (decisions 7.4),
 * on the operator's port: for others it would be a list of customers' domains to guess from.
 * `ownHosts` are the installation's. It tells nothing that a visit of the domain does not tell. The proxy asks for all its
 * visitors, so a network has no limit here: it would stop the certificates of all domains.
 */
export function tlsCheckRoutes(app: App, { db, metrics, ownHosts }: TlsCheckContext): void {
  const waiting = metrics.gauge('picket_tls_checks_waiting', 'Questions of the proxy for certificates that wait')
  const refused = metrics.counter('picket_tls_checks_refused_total', 'Those that were turned away', ['why'])
  initializeCounter(refused, 'why', ['full', 'late'])
  const lookUp = createQueuedLookup({
    ...LIMITS,
    onWaiting: change => waiting.inc(change),
    onRefused: why => refused.inc({ why }),
  })
  const isPages = async (host: string) =>
    (await lookUp(host, async () => (await isDomainServed(db, host)) || null)) !== null
  app.get('/internal/tls-check', { config: { hosts: 'inside' } }, async (request, reply) => {
    const { domain } = request.query as { domain?: unknown }
    const host = typeof domain === 'string' ? normalizeHost(domain) : null
    const isGood = host !== null && (ownHosts.includes(host) || (await isPages(host)))
    return reply.code(isGood ? 200 : 404).send({ domain: host, allowed: isGood })
  })
}
