import { createServer } from 'node:http'
import { clientProcess } from './client-process.ts'
import { listenUntilEnd } from './listening.ts'
import type { Teardown } from './teardown.ts'

type SeenBy = { path: string; pid: number | null; atMs: number }

type TargetByProbe = {
  /** the address of one of its pages; `host`: an address of this machine, 127.0.0.1 without it */
  url(page: string, host?: string): string
  /** from now on a page answers these processes with a 500; `all`: every process */
  fail(page: string, pids: readonly number[] | 'all'): void
  /** how long a page takes to answer */
  delay(page: string, delayMs: number): void
  /** the largest number of requests of a page that were open at the same time */
  countMostOpen(page: string): number
  seen: SeenBy[]
}

/**
 * An HTTP server that identifies the probe of a request, so that two probes of a region can get different answers. The probes
 * need the environment `IDENTIFIED`.
 */
export async function startTargetByProbe(t: Teardown): Promise<TargetByProbe> {
  const failing = new Map<string, readonly number[] | 'all'>()
  const delays = new Map<string, number>()
  const seen: SeenBy[] = []
  const open = new Map<string, { now: number; most: number }>()
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    const pid = clientProcess(request.socket)
    seen.push({ path, pid, atMs: Date.now() })
    const count = open.get(path) ?? { now: 0, most: 0 }
    open.set(path, count)
    count.most = Math.max(count.most, ++count.now)
    response.on('close', () => void count.now--)
    const fails = failing.get(path)
    const status = fails === 'all' || (pid !== null && fails?.includes(pid)) ? 500 : 200
    setTimeout(() => response.writeHead(status).end(), delays.get(path) ?? 0).unref()
  })
  const port = await listenUntilEnd(t, server, '0.0.0.0')
  return {
    url: (page, host = '127.0.0.1') => `http://${host}:${port}/${page}`,
    fail: (page, whom) => void failing.set(`/${page}`, whom),
    delay: (page, delayMs) => void delays.set(`/${page}`, delayMs),
    countMostOpen: page => open.get(`/${page}`)?.most ?? 0,
    seen,
  }
}
