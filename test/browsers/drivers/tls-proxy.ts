import { once } from 'node:events'
import { Agent, request as sendRequest } from 'node:http'
import { createServer } from 'node:https'
import { createAuthority } from '../../support/certificates.ts'
import type { Teardown } from '../../support/teardown.ts'

export type TlsProxy = {
  /** pages that are opened from now on run no script */
  forbidScripts(isForbidden: boolean): void
  /** ends all connections and accepts no new ones, as a stopped server */
  cut(): Promise<void>
  restore(): Promise<void>
}

/**
 * Accepts TLS on a port of 127.0.0.1 in front of a server without TLS, with a certificate of its own for localhost. WebKit
 * keeps the session cookie on an address with TLS only.
 */
export async function startTlsProxy(t: Teardown, port: number, target: string): Promise<TlsProxy> {
  let isForbidden = false
  const agent = new Agent({ keepAlive: true })
  const proxy = createServer(createAuthority(t).selfSigned('localhost'), (request, response) => {
    const { method, headers } = request
    const forwarded = sendRequest(target + request.url, { method, headers, agent }, answer => {
      const policy = answer.headers['content-security-policy']
      // a page with two policies has to satisfy both
      if (isForbidden && policy) response.setHeader('content-security-policy', [policy, "script-src 'none'"].flat())
      for (const [name, value] of Object.entries(answer.headers))
        if (value !== undefined && !response.hasHeader(name)) response.setHeader(name, value)
      response.writeHead(answer.statusCode!)
      answer.pipe(response)
      answer.on('error', () => response.destroy())
    })
    forwarded.on('error', () => response.destroy())
    response.on('error', () => {})
    response.on('close', () => forwarded.destroy())
    request.pipe(forwarded)
  })
  const listen = async () => {
    proxy.listen(port, '127.0.0.1')
    await once(proxy, 'listening')
  }
  const cut = async () => {
    const isClosed = once(proxy, 'close')
    proxy.close()
    proxy.closeAllConnections()
    await isClosed
  }
  await listen()
  t.teardown(async () => {
    if (proxy.listening) await cut()
    agent.destroy()
  })
  const forbidScripts = (value: boolean) => {
    isForbidden = value
  }
  return { forbidScripts, cut, restore: listen }
}
