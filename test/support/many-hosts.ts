import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { clientProcess } from './client-process.ts'
import { listenUntilEnd } from './listening.ts'
import type { Teardown } from './teardown.ts'

/** `pid` null: before the first fault. */
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

const hostOf = (socket: Socket) => Number(socket.localAddress?.split('.').at(-1))

/** Hosts with one address each. A process can lose any of them, as with a missing route or a firewall that rejects. */
export async function startManyHosts(t: Teardown, pids: () => readonly number[]): Promise<ManyHosts> {
  const lost = new Map<number, ReadonlySet<number>>()
  const broken = new Map<number, ReadonlySet<number>>()
  const clients = new WeakMap<Socket, Promise<number | null>>()
  const seen: HostConnection[] = []
  const server = createServer(async ({ socket }, response) => {
    const pid = (await clients.get(socket)) ?? null
    const isBroken = pid !== null && broken.get(pid)?.has(hostOf(socket)) === true
    response.writeHead(isBroken ? 503 : 200, { connection: 'close' }).end()
  })
  server.on('connection', async socket => {
    const host = hostOf(socket)
    const atMs = Date.now()
    // finding the process is expensive on a busy machine and needed only after a fault
    const client = lost.size + broken.size === 0 ? Promise.resolve(null) : clientProcess(socket, pids())
    clients.set(socket, client)
    const pid = await client
    const isLost = pid !== null && (lost.get(pid)?.has(host) ?? false)
    seen.push({ host, pid, atMs, isLost })
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
