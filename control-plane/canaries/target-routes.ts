import { sleep } from '../platform/clock.ts'
import type { Reply } from '../web/app.ts'
import { type Outage, WELL } from './schedule.ts'

/** How long an answer that is slow takes; a canary's checks wait 10 s. */
const SLOW_MS = 8_000
/** An answer that never comes is ended after this: each check has given up by then. */
const HUNG_MS = 90_000
/** Answers held back at a time; more than the checks of all regions can ask for. */
const MAX_HELD = 200

/** Answers as a target does that fails in the way of the given outage; null: it is well. */
export function createTarget(): (reply: Reply, outage: Outage | null) => Promise<unknown> {
  let held = 0

  /** Waits so long, or until the client has gone; not at all when too many wait already. */
  async function hold(reply: Reply, ms: number): Promise<void> {
    if (held >= MAX_HELD) return
    held++
    const gone = new AbortController()
    const end = () => gone.abort()
    reply.raw.once('close', end)
    await sleep(ms, gone.signal)
    reply.raw.off('close', end)
    held--
  }

  return async (reply, outage) => {
    reply.headers({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
    if (outage === null) return reply.send(WELL)
    const text = `fails by plan (${outage.kind}) until ${outage.endedAt.toISOString()}`
    switch (outage.kind) {
      case 'status':
        return reply.code(503).send(text)
      case 'wrong':
        return reply.send(text)
      case 'slow':
        await hold(reply, SLOW_MS)
        return reply.code(503).send(text)
      case 'hang':
        await hold(reply, HUNG_MS)
        return reply.hijack().raw.destroy()
      case 'refuse':
        return reply.hijack().raw.socket?.resetAndDestroy()
    }
  }
}
