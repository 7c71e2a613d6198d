import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Teardown } from './teardown.ts'

export type TcpRelay = {
  /** the given URL, led through the relay */
  url: string
  /** breaks every connection and refuses new ones, as a server that went away would */
  cut(): Promise<void>
  /** lets connections through again, on the same port */
  mend(): Promise<void>
}

/** A way to take an engine away from one program while the others keep it. */
export async function startTcpRelay(t: Teardown, target: string): Promise<TcpRelay> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const relay = createServer(inner => {
    const outer = connect(Number(port), hostname)
    for (const [socket, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  const listen = (at: number) => new Promise<void>(resolve => relay.listen(at, '127.0.0.1', resolve))
  await listen(0)
  const { port: relayPort } = relay.address() as AddressInfo
  const cut = async () => {
    const closed = new Promise(resolve => relay.close(resolve))
    for (const socket of sockets) socket.destroy()
    await closed
  }
  t.teardown(() => relay.listening && cut())
  const url = new URL(target)
  url.host = `127.0.0.1:${relayPort}`
  return { url: url.href, cut, mend: () => listen(relayPort) }
}
