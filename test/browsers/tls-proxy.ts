import { once } from 'node:events'
import { connect } from 'node:net'
import { createServer } from 'node:tls'
import { createAuthority } from '../support/certificates.ts'
import type { Teardown } from '../support/teardown.ts'

/**
 * Accepts TLS on a port of 127.0.0.1 in front of a server without TLS, with a certificate of its own for localhost. WebKit
 * keeps the session cookie on an address with TLS only.
 */
export async function startTlsProxy(t: Teardown, port: number, target: string): Promise<void> {
  const { hostname, port: targetPort } = new URL(target)
  const sockets = new Set<{ destroy(): void }>()
  const proxy = createServer(createAuthority(t).selfSigned('localhost'), inner => {
    const outer = connect(Number(targetPort), hostname)
    for (const [one, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(one)
      one.pipe(other)
      one.on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  })
  proxy.on('tlsClientError', () => {})
  proxy.listen(port, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => {
    proxy.close()
    for (const socket of sockets) socket.destroy()
  })
}
