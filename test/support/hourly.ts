import { computeSlots } from '../../probe-agent/schedule/slots.ts'
import { findSlotFrom } from '../../shared/checks/slots.ts'
import type { Api, ApiAnswer } from './api.ts'
import { waitFor } from './wait.ts'

const INTERVAL_SECONDS = 3_600
/** Longer than any test file may take. */
const QUIET_MS = 1_200_000

/**
 * Makes a monitor that is checked at once and then once an hour, but in none of its regions by itself in the next
 * minutes: a test may count its checks. Answers its id.
 */
export async function createHourly(api: Api, body: { url: string; regions: readonly string[] }): Promise<string> {
  const { url, ...rest } = body
  for (;;) {
    // without an address it is not checked yet
    const made = await unlessBusy(() => api.post('/monitors', { ...rest, interval_seconds: INTERVAL_SECONDS }))
    const { id } = made.body.data
    if (!body.regions.some(region => isDueSoon(id, region))) {
      await unlessBusy(() => api.put(`/monitors/${id}`, { url }))
      return id
    }
    await unlessBusy(() => api.delete(`/monitors/${id}`))
  }
}

/** Asks again while the API answers 503, as it may next to much other work. Throws when it refuses. */
async function unlessBusy(ask: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
  const answer = await waitFor(
    async () => {
      const one = await ask()
      return one.status === 503 ? null : one
    },
    { label: 'an API that is not busy' },
  )
  if (answer.status >= 300) throw new Error(`the API answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer
}

/** An id for a monitor that has no slot in a region in the next minutes when it is checked once an hour. */
export function hourlyId(region: string): string {
  let n = 0
  while (isDueSoon(`hourly-${n}`, region)) n++
  return `hourly-${n}`
}

function isDueSoon(monitorId: string, region: string): boolean {
  const nowMs = Date.now()
  return findSlotFrom(computeSlots(monitorId, region, INTERVAL_SECONDS), nowMs) - nowMs < QUIET_MS
}
