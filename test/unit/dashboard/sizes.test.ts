import t from 'tap'
import { MAX_SIZES, measureDashboardSizes } from '../../support/dashboard-sizes.ts'

t.test('The scripts and the styles of the dashboard are not larger than their limits', async t => {
  const sizes = await measureDashboardSizes()
  for (const part of ['script', 'largest', 'style'] as const)
    t.ok(sizes[part] <= MAX_SIZES[part], `${part}: ${sizes[part]} kB of ${MAX_SIZES[part]} kB`)
  t.ok(sizes.script > 20 && sizes.largest > sizes.script && sizes.style > 2, 'they are measured')
})
