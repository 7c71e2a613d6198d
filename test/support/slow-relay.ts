import { type AddressInfo, createServer, type Socket } from 'node:net'
import { connectToServer } from './connect-to-server.ts'
import type { Teardown } from './teardown.ts'

/** A server behind a slow network: what it sends arrives `delayMs` later. Returns the given URL through the relay. */
export async function startSlowRelay(t: Teardown, target: string, delayMs: number): Promise<string> {
  const sockets = new Set<Socket>()
  const relay = createServer(inner => {
    const outer = connectToServer(target)
    const pair = [inner, outer]
    for (const socket of pair) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        for (const one of pair) one.destroy()
      })
    }
    inner.pipe(outer)
    outer.on('data', data => setTimeout(() => inner.write(data), delayMs))
  })
  await new Promise<void>(resolve => relay.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    relay.close()
    for (const socket of sockets) socket.destroy()
  })
  const url = new URL(target)
  url.host = `127.0.0.1:${(relay.address() as AddressInfo).port}`
  return url.href
}
