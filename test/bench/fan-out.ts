/** The delay of a tenant's alert while 20,000 channels of another tenant of the same partition are notified. */
import { startCrowd } from '../support/crowd.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import { type Figure, figure } from './rig.ts'

const CHANNELS = 20_000

export async function benchFanOut(t: Teardown): Promise<Figure[]> {
  const { loud, quiet, check, waiting, tookMs } = await startCrowd(t, CHANNELS)
  await check([...loud, quiet[0]!], false)
  await check([quiet[1]!], false)
  const took = await waitFor(tookMs, { timeoutMs: 120_000, label: 'both alerts of the small tenant' })
  const longest = Math.max(...took)
  await waitFor(async () => (await waiting()) === 0, { timeoutMs: 300_000, label: 'the end of the fan-out' })
  const what = `transition to webhook while another tenant has ${CHANNELS.toLocaleString('en')} channels to be notified`
  return [figure(what, `${Math.round(longest)} ms`, '≤ 1 s', longest <= 1_000)]
}
