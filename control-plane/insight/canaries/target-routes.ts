import { sleep } from '../../foundation/platform/time/clock.ts'
import type { HttpReply } from '../../foundation/web/server/app.ts'
import { type CanaryOutage, HEALTHY_BODY } from './schedule.ts'

/** The delay of a slow response; the checks of canaries time out after 10 s. */
const SLOW_ANSWER_MS = 8_000
/** A hanging response is ended after this, when each check has timed out. */
const HANGING_ANSWER_TIMEOUT_MS = 90_000
/** Responses held back at a time; more than the checks of all regions need. */
const MAX_HELD = 200

/** Responds like a target with the given outage; null: healthy. */
export function createTargetResponder(): (reply: HttpReply, outage: CanaryOutage | null) => Promise<unknown> {
  let held = 0

  /** Waits for `ms` or until the client disconnects; does not wait when too many responses are held. */
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
    const text = `planned failure (${outage.kind}) until ${outage.endedAt.toISOString()}`
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
