import type { FastifyRequest } from 'fastify'
import { normalizeHost } from '../../../shared/egress/host.ts'
import type { Db } from '../../platform/postgres.ts'
import type { App } from '../../web/app.ts'
import { createLookUp } from '../../web/look-ups.ts'
import { clientNetworkOf } from '../../web/network.ts'
import { isServed } from './store.ts'

/** The proxy asks for all its visitors, so this is a limit for the installation: domains that it serves do not count. */
const UNKNOWN_PER_MINUTE = 600

/**
 * `GET /internal/tls-check?domain=`: 200 where the reverse proxy may fetch a certificate, 404 elsewhere (decisions 7.4),
 * on the operator's port: for others it would be a list of customers' domains to guess from.
 * `ownHosts` are the installation's. It tells nothing that a visit of the domain does not tell.
 */
export function tlsCheckRoutes(app: App, { db, ownHosts }: { db: Db; ownHosts: string[] }): void {
  const lookUp = createLookUp({ what: 'domains', missesPerMinute: UNKNOWN_PER_MINUTE })
  const isPages = async (request: FastifyRequest, host: string) =>
    (await lookUp(clientNetworkOf(request), host, async () => (await isServed(db, host)) || null)) !== null
  app.get('/internal/tls-check', { config: { hosts: 'inside' } }, async (request, reply) => {
    const { domain } = request.query as { domain?: unknown }
    const host = typeof domain === 'string' ? normalizeHost(domain) : null
    const isGood = host !== null && (ownHosts.includes(host) || (await isPages(request, host)))
    return reply.code(isGood ? 200 : 404).send({ domain: host, allowed: isGood })
  })
}
