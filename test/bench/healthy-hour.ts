/**
 * An hour of healthy operation, scraped by a Prometheus with the alert rules for operators. No alert may fire. Runs only when
 * it is named.
 */
import { sleep } from '../../control-plane/foundation/platform/time/clock.ts'
import { startPicket } from '../support/picket.ts'
import { startPrometheus } from '../support/prometheus.ts'
import { startTarget } from '../support/target.ts'
import type { Teardown } from '../support/teardown.ts'
import { type Engines, type Figure, figure, REGIONS } from './rig.ts'

const MINUTES = Number(process.env.HEALTHY_MINUTES ?? 60)
const MONITORS = 60
const SCRAPE_SECONDS = 15

export async function benchHealthyHour(t: Teardown, _engines: Engines): Promise<Figure[]> {
  const [picket, target] = await Promise.all([startPicket(t, { regions: REGIONS, probesPerRegion: 2 }), startTarget(t)])
  const monitors = Array.from({ length: MONITORS }, (_, i) => ({
    name: `Shop ${i}`,
    type: 'http',
    url: target.url,
    interval_seconds: 30,
    regions: REGIONS,
  }))
  for (let i = 0; i < MONITORS; i += 20)
    await picket.api.post('/monitors/bulk', { monitors: monitors.slice(i, i + 20) })
  const prometheus = await startPrometheus(t, [new URL(picket.operator).host], { scrapeSeconds: SCRAPE_SECONDS })
  const fired = new Map<string, number>()
  for (let scrapes = 0; scrapes < MINUTES * 6; scrapes++) {
    await sleep(10_000)
    for (const alert of await prometheus.firing()) fired.set(alert, (fired.get(alert) ?? 0) + 1)
  }
  const text = [...fired].map(([alert, scrapes]) => `${alert} for ${scrapes * 10} s`).join(', ')
  const samples = await prometheus.samples('picket_verdict_partitions_owned')
  return [
    figure(
      `alerts that fire in ${MINUTES} minutes of healthy operation (${samples} scrapes, ${MONITORS} monitors, 3 regions of 2 probes)`,
      text || 'none',
      'none',
      fired.size === 0 && samples > MINUTES,
    ),
  ]
}
