import { setTimeout as pause } from 'node:timers/promises'
import { createApi } from './api.ts'
import type { Teardown } from './teardown.ts'

export type ImportLoad = {
  /** by the status of its answer */
  answers: Record<number, number>
  stop(): Promise<void>
}

/** A file that changes each of its monitors when it follows one of another number. */
export const fileOf = (monitors: number, timeout_ms: number, url = 'http://127.0.0.1:9/') => ({
  version: 1,
  monitors: Array.from({ length: monitors }, (_, i) => ({
    ...{ name: `Shop ${i}`, type: 'http', url: `${url}${i}`, timeout_ms },
    headers: { 'X-Shop': `${i}` },
  })),
})

/** A tenant that imports all the time, `atOnce` files in hand; what is refused is sent again when the answer says. */
export function startImports(
  t: Teardown,
  to: { origin: string; key: string },
  { atOnce, monitors, url }: { atOnce: number; monitors: number; url?: string },
): ImportLoad {
  const api = createApi(to.origin, to.key)
  const answers: Record<number, number> = {}
  let isOver = false
  const files = [1_000, 2_000].map(timeoutMs => JSON.stringify(fileOf(monitors, timeoutMs, url)))
  const work = async (first: number) => {
    for (let i = first; !isOver; i++) {
      const answer = await api.post('/import?dry_run=false', files[i % 2]).catch(() => null)
      // 0: there was no answer
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
