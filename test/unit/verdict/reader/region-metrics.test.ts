import t from 'tap'
import {
  createBatchEffects,
  selectRegionCounts,
} from '../../../../control-plane/verdict/reader/counting/batch-effects.ts'
import { createVerdictMetrics, recordEffects } from '../../../../control-plane/verdict/reader/metrics.ts'
import { REGIONS } from '../../../../shared/checks/check.ts'
import { createMetrics } from '../../../../shared/process/metrics.ts'

t.test(
  'From the first results of a region, its refused results are counted from 0, so that the first one raises the alert',
  async t => {
    const metrics = createMetrics()
    const verdictMetrics = createVerdictMetrics(metrics)
    const effects = createBatchEffects()
    selectRegionCounts(effects, 'us-east')
    effects.counts.counted++
    recordEffects(verdictMetrics, effects)
    const { text } = await metrics.render()
    for (const [kind, count] of [
      ['counted', 1],
      ['refused_future', 0],
      ['refused_epoch', 0],
      ['refused_probe', 0],
    ])
      t.match(
        text,
        new RegExp(`^picket_verdict_region_results_total\\{region="us-east",kind="${kind}"\\} ${count}$`, 'm'),
      )
  },
)

t.test('The first forged result of a region raises the alert, also when the region had no results before', async t => {
  const metrics = createMetrics()
  createVerdictMetrics(metrics)
  const { text } = await metrics.render()
  for (const region of REGIONS)
    t.match(
      text,
      new RegExp(`^picket_verdict_region_results_total\\{region="${region}",kind="refused_epoch"\\} 0$`, 'm'),
    )
})
