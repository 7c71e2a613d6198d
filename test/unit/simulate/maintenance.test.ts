import t from 'tap'
import { seededRandom } from '../../chaos/random.ts'
import { createInstallation, MIXED_INTERVALS_S } from '../../simulate/installation.ts'
import { addMaintenance } from '../../simulate/maintenance.ts'
import { createSimulationPlan, isNear } from '../../simulate/plan.ts'
import { STANDARD } from '../../simulate/simulate.ts'

const installation = createInstallation(seededRandom(1), 24, 2, MIXED_INTERVALS_S)
const options = { ...STANDARD, days: 40 }
const createPlan = () => createSimulationPlan(installation, options)

t.test('maintenance leaves the plan of a seed as it is, and adds outages after it', async t => {
  const before = createPlan()
  const { windows, outages, ...rest } = addMaintenance(createPlan(), installation, options)
  t.same({ ...rest, outages: outages.slice(0, before.outages.length) }, before)
  t.ok(windows.length > 500, `${windows.length} windows`)
  t.ok(outages.length > before.outages.length)
  t.same(
    addMaintenance(createPlan(), installation, options),
    { ...rest, outages, windows },
    'the same seed, the same plan',
  )
})

t.test('outages in maintenance are apart from the others of their monitor, and begin and end in all ways', async t => {
  const known = createPlan().outages.length
  const { windows, outages } = addMaintenance(createPlan(), installation, options)
  const added = outages.slice(known)
  for (const [i, one] of added.entries())
    t.notOk(
      outages.slice(0, known + i).some(other => isNear(one, other)),
      `${one.index} ${one.fromMs}`,
    )
  const count = (
    fits: (outage: { fromMs: number; toMs: number }, window: { fromMs: number; toMs: number }) => boolean,
  ) => added.filter(outage => windows.some(window => window.index === outage.index && fits(outage, window))).length
  const inside = count((outage, window) => outage.fromMs >= window.fromMs && outage.toMs <= window.toMs)
  const beyond = count(
    (outage, { fromMs, toMs }) => outage.fromMs >= fromMs && outage.fromMs < toMs && outage.toMs > toMs,
  )
  const before = count(
    (outage, { fromMs, toMs }) => outage.fromMs < fromMs && outage.toMs > fromMs && outage.toMs <= toMs,
  )
  for (const [amount, what] of [
    [inside, 'inside'],
    [beyond, 'beyond the end'],
    [before, 'from before'],
  ] as const)
    t.ok(amount > 30, `${amount} ${what}`)
})
