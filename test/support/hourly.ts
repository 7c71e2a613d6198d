import { computeSlots, findSlotFrom } from '../../shared/checks/slots.ts'
import type { Api, ApiAnswer } from './api.ts'
import { waitFor } from './wait.ts'

const INTERVAL_SECONDS = 3_600
/** Longer than the time limit of a test file. */
const QUIET_MS = 1_200_000
/** Longer than a probe that takes over checks a past slot again. */
const PAST_MS = 180_000

/**
 * Creates a monitor that is checked immediately and then once an hour, with no slot in the next minutes, so a test can
 * count its checks. Returns its id.
 */
export async function createHourly(api: Api, body: { url: string; regions: readonly string[] }): Promise<string> {
  const { url, ...rest } = body
  for (;;) {
    // without a URL it is not checked yet
    const made = await unlessBusy(() => api.post('/monitors', { ...rest, interval_seconds: INTERVAL_SECONDS }))
    const { id } = made.body.data
    if (!body.regions.some(region => isDueSoon(id, region))) {
      await unlessBusy(() => api.put(`/monitors/${id}`, { url }))
      return id
    }
    await unlessBusy(() => api.delete(`/monitors/${id}`))
  }
}

/** Retries while the API responds with 503, as it may under load. Throws on other errors. */
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

/** An id of a monitor without a slot in a region in the next minutes, when it is checked once an hour. */
export function hourlyId(region: string): string {
  let n = 0
  while (isDueSoon(`hourly-${n}`, region)) n++
  return `hourly-${n}`
}

/** Whether a check may be due in the next minutes, also because a probe takes over the monitor. */
function isDueSoon(monitorId: string, region: string): boolean {
  const nowMs = Date.now()
  const inMs = findSlotFrom(computeSlots(monitorId, region, INTERVAL_SECONDS), nowMs) - nowMs
  return inMs < QUIET_MS || inMs > INTERVAL_SECONDS * 1_000 - PAST_MS
}
