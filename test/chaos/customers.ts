import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Api } from '../support/api.ts'
import type { Teardown } from '../support/teardown.ts'

/**
 * Simulated users who report incidents and request checks of their monitors at fixed intervals. A report is repeated with its
 * Idempotency-Key until it is answered 2xx.
 */
export type ChaosCustomers = {
  /** incidents whose report was answered 2xx: title to time of the answer, in ms since 1970 */
  written: Map<string, number>
  /** titles of the incidents whose report was not yet answered 2xx */
  unacknowledged: Set<string>
  /** number of requests that had another answer, or none */
  refused: number
  /**
   * Sends no new reports. Waits until every report is answered, at most `withinMs`. Then nothing is repeated, and it resolves
   * when no request is in progress any more: a slow server may still store what it was asked.
   */
  stop(withinMs: number): Promise<void>
}

const WRITE_EVERY_MS = 1_000
const CHECK_EVERY_MS = 3_000
const RETRY_AFTER_MS = 1_000
const ANSWER_TIMEOUT_MS = 15_000

/** @param monitors the monitor whose incidents are reported, and those whose checks are requested */
export function startCustomers(
  t: Teardown,
  api: Api,
  monitors: { affectedId: string; askedIds: string[] },
): ChaosCustomers {
  const written = new Map<string, number>()
  const unanswered = new Set<string>()
  const reports = new Set<Promise<void>>()
  const inProgress = new Set<Promise<unknown>>()
  let isStopped = false
  let count = 0

  const post = (path: string, body?: object, headers?: Record<string, string>) => {
    const request = api.post(path, body, headers).catch(() => null)
    inProgress.add(request)
    request.finally(() => inProgress.delete(request))
    return request
  }

  const report = async (title: string) => {
    unanswered.add(title)
    const headers = { 'idempotency-key': randomUUID() }
    const body = { title, severity: 'minor', message: 'We are looking.', monitor_ids: [monitors.affectedId] }
    while (!isStopped) {
      const answer = await Promise.race([post('/incidents', body, headers), waitForTimeout()])
      if (answer && answer.status < 300) {
        written.set(title, Date.now())
        return void unanswered.delete(title)
      }
      customers.refused++
      await pause(RETRY_AFTER_MS)
    }
  }
  const reporting = setInterval(() => reports.add(report(`Report ${++count}`)), WRITE_EVERY_MS)
  // the answer of a check is not awaited
  const requestChecks = () => monitors.askedIds.map(id => post(`/monitors/${id}/check`))
  const asking = setInterval(requestChecks, CHECK_EVERY_MS)
  const customers: ChaosCustomers = {
    written,
    unacknowledged: unanswered,
    refused: 0,
    async stop(withinMs) {
      clearInterval(reporting)
      clearInterval(asking)
      await Promise.race([Promise.all(reports), pause(withinMs, null, { ref: false })])
      isStopped = true
      while (inProgress.size > 0) await Promise.all(inProgress)
    },
  }
  t.teardown(() => customers.stop(0))
  return customers
}

const waitForTimeout = () => pause(ANSWER_TIMEOUT_MS, null, { ref: false })
