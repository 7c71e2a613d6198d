import type { Metrics } from '../../shared/process/metrics.ts'

/** The number of rounds of a loop with this outcome. */
export async function countRounds(metrics: Metrics, loop: string, outcome: 'ok' | 'failed'): Promise<number> {
  return readMetric(metrics, `picket_loop_rounds_total{loop="${loop}",outcome="${outcome}"}`)
}

/** The value of a series, 0 when there is none. */
export async function readMetric(metrics: Metrics, series: string): Promise<number> {
  const { text } = await metrics.render()
  const found = text.split('\n').find(one => one.startsWith(`${series} `))
  return Number(found?.slice(series.length + 1) ?? 0)
}
