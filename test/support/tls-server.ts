import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { KeyPair } from './certificates.ts'
import type { Teardown } from './teardown.ts'

/** An HTTPS server on a free port of 127.0.0.1 that answers everything with `status` and "over TLS". Returns the port. */
export async function startTlsServer(t: Teardown, pair: KeyPair, status = 200): Promise<number> {
  const server = createServer(pair, (_request, response) => response.writeHead(status).end('over TLS'))
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close().closeAllConnections())
  return (server.address() as AddressInfo).port
}
