import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Api } from '../support/api.ts'
import type { Teardown } from '../support/teardown.ts'

/**
 * People who report incidents, and ask for a check of their monitors again and again. A report is sent again with its
 * Idempotency-Key until it is answered 2xx.
 */
export type ChaosCustomers = {
  /** titles of the incidents that were answered 2xx, and when */
  written: Map<string, number>
  /** titles of those that were not yet */
  unacknowledged: Set<string>
  /** how many reports were answered otherwise, or not at all */
  refused: number
  /** Nothing new; resolves when every report is answered, or when so much time is over. */
  stop(withinMs: number): Promise<void>
}

const WRITE_EVERY_MS = 1_000
const ASK_EVERY_MS = 3_000
const AGAIN_AFTER_MS = 1_000
const PATIENCE_MS = 15_000

/** @param monitors whose incidents are reported, and of which checks are asked for */
export function startCustomers(
  t: Teardown,
  api: Api,
  monitors: { affectedId: string; askedIds: string[] },
): ChaosCustomers {
  const written = new Map<string, number>()
  const unanswered = new Set<string>()
  const reports = new Set<Promise<void>>()
  let isGone = false
  let count = 0

  const report = async (title: string) => {
    unanswered.add(title)
    const headers = { 'idempotency-key': randomUUID() }
    const body = { title, severity: 'minor', message: 'We are looking.', monitor_ids: [monitors.affectedId] }
    while (!isGone) {
      const answer = await Promise.race([api.post('/incidents', body, headers).catch(() => null), patience()])
      if (answer && answer.status < 300) {
        written.set(title, Date.now())
        return void unanswered.delete(title)
      }
      customers.refused++
      await pause(AGAIN_AFTER_MS)
    }
  }
  const reporting = setInterval(() => reports.add(report(`Report ${++count}`)), WRITE_EVERY_MS)
  // nobody waits for the answer of a check
  const ask = () => monitors.askedIds.map(id => api.post(`/monitors/${id}/check`).catch(() => {}))
  const asking = setInterval(ask, ASK_EVERY_MS)
  const customers: ChaosCustomers = {
    written,
    unacknowledged: unanswered,
    refused: 0,
    async stop(withinMs) {
      clearInterval(reporting)
      clearInterval(asking)
      await Promise.race([Promise.all(reports), pause(withinMs, null, { ref: false })])
      isGone = true
    },
  }
  t.teardown(() => customers.stop(0))
  return customers
}

const patience = () => pause(PATIENCE_MS, null, { ref: false })
