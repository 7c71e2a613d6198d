import type { Socket } from 'node:net'
import type { CheckSpec } from '../../shared/checks/check.ts'
import { startDnsServer } from './dns-server.ts'
import { startFixedResponse, startRawServer } from './raw-server.ts'
import { type Behaviour, startTarget } from './target.ts'
import type { Teardown } from './teardown.ts'

/** The same check for two programs: Picket's, and the module and target of the other one (default: Picket's `url`). */
export type HostileCheck = { spec: Partial<CheckSpec> & { url: string }; module?: object; target?: string }

type Start = () => Promise<HostileCheck>
type Spec = Partial<CheckSpec>

/** Builds from the behaviour of a target how it is started and which check is made. */
export function hostileTargets(t: Teardown) {
  return {
    answers(behaviour: Behaviour, spec: Spec = {}, module: object = {}): Start {
      return async () => {
        const target = await startTarget(t)
        target.behave(behaviour)
        return { spec: { url: target.url, ...spec }, module }
      }
    },

    /** Answers every request with these bytes and closes the connection. */
    sends(bytes: string, spec: Spec = {}): Start {
      return async () => ({ spec: { url: `http://127.0.0.1:${await startFixedResponse(t, bytes)}/`, ...spec } })
    },

    /** A web server with its own handler. */
    web(handle: (socket: Socket) => void): Start {
      return async () => ({ spec: { url: `http://127.0.0.1:${await startRawServer(t, handle)}/` } })
    },

    port(handle: (socket: Socket) => void, spec: Spec, module: object): Start {
      return async () => ({
        spec: { type: 'tcp', url: `127.0.0.1:${await startRawServer(t, handle)}`, ...spec },
        module,
      })
    },

    /** Redirects a number of times, then answers. */
    hops(count: number): Start {
      return async () => {
        const target = await startTarget(t)
        for (let i = 0; i < count; i++) target.behaveAt(`/${i}`, { kind: 'redirect', to: `/${i + 1}` })
        return { spec: { url: `${target.url}0` } }
      }
    },

    /** Answers 200 to requests with this header, 401 to others. */
    guarded(header: string, kind: NonNullable<CheckSpec['auth']>['kind'], module: object): Start {
      return async () => {
        const port = await startRawServer(t, socket =>
          socket.once('data', data => {
            const isKnown = String(data).toLowerCase().includes(`${header}\r\n`.toLowerCase())
            socket.end(`HTTP/1.1 ${isKnown ? 200 : 401} Said\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok`)
          }),
        )
        return { spec: { url: `http://127.0.0.1:${port}/`, auth: { kind } }, module }
      }
    },

    /** A DNS server that has the address of shop.test. */
    asks(name: string, behaviour: 'answer' | 'nxdomain' = 'answer'): Start {
      return async () => {
        const server = await startDnsServer(t, [{ type: 'A', name: 'shop.test', ttl: 60, data: '192.0.2.1' }])
        server.behave(behaviour)
        return {
          spec: { type: 'dns', url: `dns://127.0.0.1:${server.port}/${name}?type=A` },
          module: { prober: 'dns', dns: { query_name: name, query_type: 'A' } },
          target: `127.0.0.1:${server.port}`,
        }
      }
    },
  }
}

/** Answers every request with an endless body. */
export function flood(socket: Socket): void {
  const more = () => void (socket.write(Buffer.alloc(65_536, 'x')) ? setImmediate(more) : socket.once('drain', more))
  socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\n', more))
}

/** Answers every request with endless headers. */
export function endlessHeaders(socket: Socket): void {
  const lines = 'X-More: 1\r\n'.repeat(1_000)
  const more = () => void (socket.write(lines) ? setImmediate(more) : socket.once('drain', more))
  socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n', more))
}

export function greets(socket: Socket): void {
  socket.write('220 mail.example ESMTP ready\r\n')
}

export function echoes(socket: Socket): void {
  socket.on('data', data => socket.write(`+${data}`))
}
