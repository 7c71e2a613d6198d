import t from 'tap'
import { evaluateChronicle } from '../../simulate/oracle/evaluate.ts'
import { FIRST_UP, fault, hourOf, MIN, moved, outage, TEN } from '../../support/simulated-hour.ts'

const seenFrom = (...regions: string[]) => ({ ...outage(TEN, 5 * MIN), regions })
const downAfter = (ms: number) => [FIRST_UP, moved(TEN + ms, 'up', 'down'), moved(TEN + 5 * MIN + 20_000, 'down', 'up')]
const MOST = seenFrom('us-east', 'eu-west')
const FEW = seenFrom('us-east', 'us-west')
const gone = (region: string) => fault('region-dead', TEN - MIN, 10 * MIN, region)
const loss = (region: string) => fault('region-partial-loss', TEN - MIN, 5 * MIN, region)

const rows: [title: string, given: Parameters<typeof hourOf>[0], failures: string[]][] = [
  ['two of three regions see an outage that is reported', { outages: [MOST], transitions: downAfter(30_000) }, []],
  [
    'two of three regions see an outage that is not reported',
    { outages: [MOST], transitions: [FIRST_UP] },
    ['missed: 1'],
  ],
  [
    'two of three regions see an outage that is reported late',
    { outages: [MOST], transitions: downAfter(45_000) },
    ['late: 1'],
  ],
  [
    'two of three regions see an outage of many hosts: one more check',
    { outages: [{ ...MOST, isShared: true }], transitions: downAfter(60_000) },
    [],
  ],
  [
    'two of three regions see an outage of many hosts: two more checks',
    { outages: [{ ...MOST, isShared: true }], transitions: downAfter(70_000) },
    ['late: 1'],
  ],
  [
    'a region that sees an outage has no probe, and the third one sees the target well',
    { outages: [MOST], transitions: [FIRST_UP], faults: [gone('eu-west')] },
    [],
  ],
  ['one of three regions sees an outage that is not reported', { outages: [FEW], transitions: [FIRST_UP] }, []],
  [
    'one of three regions sees an outage that makes the monitor down',
    { outages: [FEW], transitions: downAfter(30_000) },
    ['false down: 1'],
  ],
  [
    'one of three regions sees an outage, and the others have no probe',
    { outages: [FEW], transitions: downAfter(30_000), faults: [gone('eu-west'), gone('ap-northeast')] },
    [],
  ],
  [
    'one of three regions loses routes',
    { transitions: downAfter(30_000), faults: [loss('us-east')] },
    ['false down: 1'],
  ],
  [
    'two of three regions lose routes at the same time',
    { transitions: downAfter(30_000), faults: [loss('us-east'), loss('eu-west')] },
    ['false down: 1'],
  ],
]
for (const [title, given, failures] of rows) {
  t.test(title, async t => {
    t.same(evaluateChronicle(hourOf(given)).failures, failures)
  })
}
