/**
 * The time from the failure of a target to the arrival of the webhook, for a target that hangs and one that answers 503. Uses a
 * complete Picket with a probe in each of three regions.
 */
import { startPicket } from '../support/picket.ts'
import { startReceiver } from '../support/receiver.ts'
import { type Behaviour, startTarget } from '../support/target.ts'
import type { Teardown } from '../support/teardown.ts'
import { waitFor } from '../support/wait.ts'
import { createMonitors, type Figure, figure, percentile, REGIONS } from './rig.ts'

/** Number of monitors for each setting and kind. Their slots are distributed over the interval. */
const MONITORS = 48

const SETTINGS = [
  { interval_seconds: 30, timeout_ms: 10_000, regions: REGIONS },
  { interval_seconds: 30, timeout_ms: 10_000, regions: REGIONS.slice(0, 1) },
  { interval_seconds: 60, timeout_ms: 30_000, regions: REGIONS },
  { interval_seconds: 60, timeout_ms: 30_000, regions: REGIONS.slice(0, 1) },
]
const KINDS: Record<string, Behaviour> = {
  hang: { kind: 'hang', after: 'headers' },
  503: { kind: 'answer', status: 503 },
}

/** Aims in seconds: [median, 99th percentile]. */
const AIMS: Record<string, [number | null, number | null]> = {
  'hang 30 3': [28, 50],
  '503 30 3': [13, null],
  'hang 60 3': [null, 105],
  'hang 60 1': [null, 105],
}

export async function benchDetection(t: Teardown): Promise<Figure[]> {
  const picket = await startPicket(t, { regions: REGIONS })
  const receiver = await startReceiver(t)
  const target = await startTarget(t)
  const channel = { name: 'Hook', type: 'webhook', config: { url: receiver.url }, is_default: true }
  await picket.api.post('/alerts/channels', channel)

  const cells: { name: string; kind: string; ids: string[] }[] = []
  for (const setting of SETTINGS) {
    for (const kind of Object.keys(KINDS)) {
      const name = `${kind} ${setting.interval_seconds} ${setting.regions.length}`
      const url = `${target.url}${name.replaceAll(' ', '-')}`
      const ids = await createMonitors(picket.api, MONITORS, { ...setting, url, retry_count: 2 })
      cells.push({ name, kind, ids })
    }
  }
  const statuses = async () => {
    const { body } = await picket.api.get('/monitors?per_page=1&status=up')
    return body.meta.total as number
  }
  const total = cells.reduce((sum, { ids }) => sum + ids.length, 0)
  await waitFor(async () => (await statuses()) === total, { timeoutMs: 180_000, label: 'all monitors up' })

  const brokenMs = Date.now()
  for (const { name, kind } of cells) target.behaveAt(`/${name.replaceAll(' ', '-')}`, KINDS[kind]!)
  const arrivals = () =>
    new Map(
      receiver.received
        .filter(({ json }) => json.event === 'monitor.down')
        .map(({ json, atMs }) => [json.data.monitor.id as string, atMs]),
    )
  await waitFor(() => arrivals().size === total, { timeoutMs: 300_000, label: 'the webhooks of all outages' })
  return cells.map(cell => buildFigure(cell, arrivals(), brokenMs))
}

function buildFigure(
  { name, ids }: { name: string; ids: string[] },
  arrivals: Map<string, number>,
  brokenMs: number,
): Figure {
  const seconds = ids.map(id => (arrivals.get(id)! - brokenMs) / 1000)
  const [p50, p99] = [percentile(seconds, 0.5), percentile(seconds, 0.99)]
  const [kind, interval, regions] = name.split(' ')
  const what = `${kind === 'hang' ? 'a target hangs' : 'a target answers 503'} → webhook, every ${interval} s, timeout ${interval === '30' ? 10 : 30} s, 2 re-checks, ${regions} ${regions === '1' ? 'region' : 'regions'}`
  const [most50, most99] = AIMS[name] ?? [null, null]
  const aims = [most50 !== null && `p50 ≤ ${most50} s`, most99 !== null && `p99 ≤ ${most99} s`].filter(Boolean)
  const isMet = aims.length === 0 ? null : p50 <= (most50 ?? p50) && p99 <= (most99 ?? p99)
  return figure(what, `p50 ${p50.toFixed(1)} s, p99 ${p99.toFixed(1)} s`, aims.join(', '), isMet)
}
