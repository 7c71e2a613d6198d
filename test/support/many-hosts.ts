import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { clientProcess } from './client-process.ts'
import { listenUntilEnd } from './listening.ts'
import type { Teardown } from './teardown.ts'

/** `pid` null: of a process that was not started with `IDENTIFIED`. */
type HostConnection = { host: number; pid: number | null; atMs: number; isLost: boolean }

type ManyHosts = {
  /** the address of one of them, by its number from 1 to 254 */
  url(host: number): string
  /** from now on connections of this process to these hosts are reset; empty: none */
  lose(pid: number, hosts: readonly number[]): void
  /** makes these hosts answer this process with status 503 from now on */
  breakFor(pid: number, hosts: readonly number[]): void
  seen: HostConnection[]
}

/**
 * Hosts with one address each. A process can lose any of them, as with a missing route or a firewall that rejects. The
 * processes need the environment `IDENTIFIED`.
 */
export async function startManyHosts(t: Teardown): Promise<ManyHosts> {
  const lost = new Map<number, ReadonlySet<number>>()
  const broken = new Map<number, ReadonlySet<number>>()
  const brokenSockets = new WeakSet<Socket>()
  const seen: HostConnection[] = []
  const server = createServer(({ socket }, response) =>
    response.writeHead(brokenSockets.has(socket) ? 503 : 200, { connection: 'close' }).end(),
  )
  server.on('connection', socket => {
    const host = Number(socket.localAddress?.split('.').at(-1))
    const pid = clientProcess(socket)
    if (pid !== null && broken.get(pid)?.has(host)) brokenSockets.add(socket)
    const isLost = pid !== null && (lost.get(pid)?.has(host) ?? false)
    seen.push({ host, pid, atMs: Date.now(), isLost })
    if (isLost) socket.resetAndDestroy()
  })
  const port = await listenUntilEnd(t, server, '0.0.0.0')
  return {
    url: host => `http://127.0.1.${host}:${port}/`,
    lose: (pid, hosts) => void lost.set(pid, new Set(hosts)),
    breakFor: (pid, hosts) => void broken.set(pid, new Set(hosts)),
    seen,
  }
}
