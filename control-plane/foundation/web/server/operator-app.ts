import type { Log } from '../../../../shared/process/log.ts'
import { type App, addHostCheck, createServer, type HostContext } from './app.ts'
import { notFound } from './errors.ts'

/**
 * The HTTP server of the operator port, without routes. It needs no key: a client that reaches the port may read it. On
 * loopback, `Host` must be the installation, an address or a name without a dot, so that a page of another site cannot
 * read it through a browser on this machine.
 */
export function createOperatorApp({ log, ...hosts }: HostContext & { log: Log }): App {
  const app = createServer(log)
  addHostCheck(app, hosts)
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    done()
  })
  app.setNotFoundHandler(request => {
    throw notFound(`${request.method} ${request.url.split('?')[0]}`)
  })
  return app
}
