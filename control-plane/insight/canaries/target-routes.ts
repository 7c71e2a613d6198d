import { sleep } from '../../foundation/platform/time/clock.ts'
import type { HttpReply } from '../../foundation/web/server/app.ts'
import { type CanaryOutage, HEALTHY_BODY } from './schedule.ts'

/** How long an answer that is slow takes; a canary's checks wait 10 s. */
const SLOW_ANSWER_MS = 8_000
/** An answer that never comes is ended after this: each check has given up by then. */
const HANGING_ANSWER_TIMEOUT_MS = 90_000
/** Answers held back at a time; more than the checks of all regions can ask for. */
const MAX_HELD = 200

/** Answers as a target does that fails in the way of the given outage; null: it is well. */
export function createTargetResponder(): (reply: HttpReply, outage: CanaryOutage | null) => Promise<unknown> {
  let held = 0

  /** Waits so long, or until the client has gone; not at all when too many wait already. */
  async function hold(reply: HttpReply, ms: number): Promise<void> {
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
    if (outage === null) return reply.send(HEALTHY_BODY)
    const text = `fails by plan (${outage.kind}) until ${outage.endedAt.toISOString()}`
    switch (outage.kind) {
      case 'status':
        return reply.code(503).send(text)
      case 'wrong':
        return reply.send(text)
      case 'slow':
        await hold(reply, SLOW_ANSWER_MS)
        return reply.code(503).send(text)
      case 'hang':
        await hold(reply, HANGING_ANSWER_TIMEOUT_MS)
        return reply.hijack().raw.destroy()
      case 'refuse':
        return reply.hijack().raw.socket?.resetAndDestroy()
    }
  }
}
