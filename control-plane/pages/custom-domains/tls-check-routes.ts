import { normalizeHost } from '../../../shared/egress/guard/host.ts'
import type { Metrics } from '../../../shared/process/metrics.ts'
import { initializeCounter } from '../../../shared/process/zero-counters.ts'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { createQueuedLookup } from '../../foundation/web/limits/queued-lookup.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { isDomainServed } from './store.ts'

/**
 * One lookup takes about a millisecond, so two at a time are enough for thousands of new names a second and leave the
 * other connections of the pool free. Caddy waits ten seconds for an answer.
 */
const LIMITS = { atOnce: 2, maxWaiting: 10_000, timeoutMs: 10_000 }

type TlsCheckContext = { db: Db; metrics: Metrics; ownHosts: string[] }

/**
 * `GET /internal/tls-check?domain=`: 200 when the reverse proxy may obtain a certificate, else 404
 * (docs/design/subscribers.md#certificates). It is on the operator port, so strangers cannot guess customers' domains
 * with it. `ownHosts` are those of the installation. The proxy asks for all its visitors, so a limit per network would
 * stop the certificates of all domains.
 */
export function tlsCheckRoutes(app: App, { db, metrics, ownHosts }: TlsCheckContext): void {
  const waiting = metrics.gauge('picket_tls_checks_waiting', 'Certificate checks of the proxy that are waiting')
  const refused = metrics.counter(
    'picket_tls_checks_refused_total',
    'Certificate checks of the proxy that were refused',
    ['why'],
  )
  initializeCounter(refused, 'why', ['full', 'late'])
  const lookUp = createQueuedLookup({
    ...LIMITS,
    onWaiting: change => waiting.inc(change),
    onRefused: why => refused.inc({ why }),
  })
  const isCustomDomain = async (host: string) =>
    (await lookUp(host, async () => (await isDomainServed(db, host)) || null)) !== null
  app.get('/internal/tls-check', { config: { hosts: 'inside' } }, async (request, reply) => {
    const { domain } = request.query as { domain?: unknown }
    const host = typeof domain === 'string' ? normalizeHost(domain) : null
    const isAllowed = host !== null && (ownHosts.includes(host) || (await isCustomDomain(host)))
    return reply.code(isAllowed ? 200 : 404).send({ domain: host, allowed: isAllowed })
  })
}
