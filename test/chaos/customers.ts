import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Api } from '../support/api.ts'
import type { Teardown } from '../support/teardown.ts'

/**
 * People who report incidents, and ask for a check of their monitors again and again. A report is asked for again with
 * its Idempotency-Key until it is answered 2xx.
 */
export type Customers = {
  /** titles of the incidents that were answered 2xx */
  written: string[]
  /** how many reports were answered otherwise, or not at all */
  refused: number
  /** nothing new; resolves when the last report is answered 2xx */
  stop(): Promise<void>
}

const WRITE_EVERY_MS = 1_000
const ASK_EVERY_MS = 3_000
const AGAIN_AFTER_MS = 1_000
const PATIENCE_MS = 15_000

/** @param monitors whose incidents are reported, and of which checks are asked for */
export function startCustomers(t: Teardown, api: Api, monitors: { affectedId: string; askedIds: string[] }): Customers {
  const customers: Customers = { written: [], refused: 0, stop }
  let isStopping = false
  let isGone = false

  const write = async (title: string) => {
    const headers = { 'idempotency-key': randomUUID() }
    const body = { title, severity: 'minor', message: 'We are looking.', monitor_ids: [monitors.affectedId] }
    while (!isGone) {
      const answer = await Promise.race([api.post('/incidents', body, headers).catch(() => null), patience()])
      if (answer && answer.status < 300) return void customers.written.push(title)
      customers.refused++
      await pause(AGAIN_AFTER_MS)
    }
  }
  const work = async () => {
    for (let i = 1; !isStopping; i++) {
      await write(`Report ${i}`)
      await pause(WRITE_EVERY_MS)
    }
  }
  // nobody waits for the answer of a check
  const ask = () => monitors.askedIds.map(id => api.post(`/monitors/${id}/check`).catch(() => {}))
  const asking = setInterval(ask, ASK_EVERY_MS)
  const worked = work()
  async function stop() {
    clearInterval(asking)
    isStopping = true
    await worked
  }
  t.teardown(() => {
    isGone = true
    return stop()
  })
  return customers
}

const patience = () => pause(PATIENCE_MS, null, { ref: false })
