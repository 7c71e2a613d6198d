import { normalizeHost } from '../../../shared/egress/host.ts'
import type { Db } from '../../platform/postgres.ts'
import type { App } from '../../web/app.ts'
import { isServed } from './store.ts'

/**
 * `GET /internal/tls-check?domain=`: 200 where the reverse proxy may fetch a certificate, 404 elsewhere (decisions 7.4).
 * `ownHosts` are the installation's. It tells nothing that a visit of the domain does not tell.
 */
export function tlsCheckRoutes(app: App, { db, ownHosts }: { db: Db; ownHosts: string[] }): void {
  app.get('/internal/tls-check', async (request, reply) => {
    const { domain } = request.query as { domain?: unknown }
    const host = typeof domain === 'string' ? normalizeHost(domain) : null
    const isGood = host !== null && (ownHosts.includes(host) || (await isServed(db, host)))
    return reply.code(isGood ? 200 : 404).send({ domain: host, allowed: isGood })
  })
}
