import { setTimeout as pause } from 'node:timers/promises'
import { createApi } from './api.ts'
import type { Teardown } from './teardown.ts'

type ImportLoad = {
  /** number of responses by status */
  answers: Record<number, number>
  stop(): Promise<void>
}

/** Builds a file. Files with different timeouts change each monitor when they are imported in turns. */
export const buildFile = (monitors: number, timeout_ms: number, url = 'http://127.0.0.1:9/') => ({
  version: 1,
  monitors: Array.from({ length: monitors }, (_, i) => ({
    ...{ name: `Shop ${i}`, type: 'http', url: `${url}${i}`, timeout_ms },
    headers: { 'X-Shop': `${i}` },
  })),
})

/** Imports files continuously, `atOnce` at the same time. Refused imports are repeated after Retry-After. */
export function startImports(
  t: Teardown,
  to: { origin: string; key: string },
  { atOnce, monitors, url }: { atOnce: number; monitors: number; url?: string },
): ImportLoad {
  const api = createApi(to.origin, to.key)
  const answers: Record<number, number> = {}
  let isOver = false
  const files = [1_000, 2_000].map(timeoutMs => JSON.stringify(buildFile(monitors, timeoutMs, url)))
  const work = async (first: number) => {
    for (let i = first; !isOver; i++) {
      const answer = await api.post('/import?dry_run=false', files[i % 2]).catch(() => null)
      // 0: no response
      const status = answer?.status ?? 0
      answers[status] = (answers[status] ?? 0) + 1
      if (status !== 200 && !isOver) await pause(Number(answer?.headers.get('retry-after') ?? 1) * 1_000)
    }
  }
  const workers = Array.from({ length: atOnce }, (_, i) => work(i))
  const stop = async () => {
    isOver = true
    await Promise.all(workers)
  }
  t.teardown(stop)
  return { answers, stop }
}
