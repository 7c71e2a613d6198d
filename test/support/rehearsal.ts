import type { RehearseMonitorResponse } from '../../deploy/client/index.ts'
import type { startPicket } from './picket.ts'
import { waitFor } from './wait.ts'

type Api = Awaited<ReturnType<typeof startPicket>>['api']
type Rehearsal = RehearseMonitorResponse['data']
type Tests = {
  same: (a: unknown, b: unknown, message: string) => unknown
  ok: (a: unknown, message: string) => unknown
}

/** Rehearses a monitor when the history has its newest checks. */
export async function readRehearsal(api: Api, id: string, settings: object): Promise<Rehearsal> {
  let last: unknown = null
  return waitFor(
    async () => {
      const { status, body } = await api.post(`/monitors/${id}/rehearse`, { settings })
      last = body
      const rehearsal: Rehearsal = body.data
      return status === 200 && rehearsal.reasons.every(({ code }) => code !== 'history_incomplete') ? rehearsal : null
    },
    { label: () => `a rehearsal with the newest checks: ${JSON.stringify(last)}` },
  )
}

/**
 * A rehearsal with unchanged settings gives the outages of the stored transitions. Where the verdict had inputs that are
 * not stored, it says so (docs/design/rehearsal.md#proof). Returns whether it is exact.
 */
export async function assertRehearsed(t: Tests, api: Api, id: string): Promise<boolean> {
  const rehearsal = await readRehearsal(api, id, {})
  const { data } = (await api.get(`/monitors/${id}/transitions?per_page=100`)).body
  const starts: string[] = []
  let isDown = false
  for (const { at, to } of (data as { at: string; to: string | null }[]).toReversed()) {
    if (to === 'down' && !isDown) starts.push(at)
    isDown = to === 'down' || (isDown && to !== 'up')
  }
  t.same(
    rehearsal.before.outages.map(({ from }) => from),
    starts,
    'the outages before are those of the transitions',
  )
  if (rehearsal.approximate) t.ok(rehearsal.reasons.length > 0, 'it says why it is approximate')
  else t.same(rehearsal.after, rehearsal.before, 'unchanged settings give the stored outages')
  return !rehearsal.approximate
}
