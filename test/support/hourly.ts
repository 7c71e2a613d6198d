import { slotsOf } from '../../probe-agent/schedule.ts'
import { slotFrom } from '../../shared/slots.ts'
import type { Api } from './api.ts'
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
    const { id } = await makeMonitor(api, { ...rest, interval_seconds: INTERVAL_SECONDS })
    if (!body.regions.some(region => isDueSoon(id, region))) {
      await api.put(`/monitors/${id}`, { url })
      return id
    }
    await api.delete(`/monitors/${id}`)
  }
}

/** Asks again while a busy machine makes the API answer that it is busy, as its answer says. */
async function makeMonitor(api: Api, body: object): Promise<{ id: string }> {
  const made = await waitFor(
    async () => {
      const answer = await api.post('/monitors', body)
      return answer.status === 503 ? null : answer
    },
    { label: 'an API that is not busy' },
  )
  if (made.status !== 201) throw new Error(`POST /monitors answered ${made.status}: ${JSON.stringify(made.body)}`)
  return made.body.data
}

/** An id for a monitor that has no slot in a region in the next minutes when it is checked once an hour. */
export function hourlyId(region: string): string {
  let n = 0
  while (isDueSoon(`hourly-${n}`, region)) n++
  return `hourly-${n}`
}

function isDueSoon(monitorId: string, region: string): boolean {
  const nowMs = Date.now()
  return slotFrom(slotsOf(monitorId, region, INTERVAL_SECONDS), nowMs) - nowMs < QUIET_MS
}
