import t from 'tap'
import {
  createEpochWaits,
  endEpochWait,
  findNewestEpoch,
  findRefusal,
  isLiveNow,
  mayWaitForEpoch,
  type RegionLiveSet,
} from '../../../../control-plane/verdict/reader/live-sets/live-sets.ts'

const END = Number.POSITIVE_INFINITY
const region: RegionLiveSet = {
  epoch: 30,
  spans: new Map([
    ['stays', [{ from: 0, until: END }]],
    ['came lately', [{ from: 28, until: END }]],
    [
      'comes and goes',
      [
        { from: 5, until: 10 },
        { from: 20, until: 25 },
      ],
    ],
  ]),
}
const ofProbe = (probeId: string, epoch: number) => findRefusal(region, region.spans.get(probeId), epoch)

t.test('a result counts if its probe was live in its epoch', async t => {
  for (const epoch of [0, 29, 30]) t.equal(ofProbe('stays', epoch), null)
  for (const epoch of [5, 9, 20, 24]) t.equal(ofProbe('comes and goes', epoch), null)
  for (const epoch of [4, 10, 19, 25, 30]) t.equal(ofProbe('comes and goes', epoch), 'refused_probe')
  t.equal(ofProbe('unknown', 30), 'refused_probe')
  t.equal(isLiveNow(region, 'stays'), true)
  t.equal(isLiveNow(region, 'comes and goes'), false)
  t.equal(isLiveNow(undefined, 'stays'), false)
})

t.test('a probe that has just become live may send results of the epoch before', async t => {
  for (const epoch of [27, 28, 30]) t.equal(ofProbe('came lately', epoch), null)
  t.equal(ofProbe('came lately', 31), 'refused_epoch')
})

t.test('an epoch that was not given out is refused, even from a live probe', async t => {
  t.equal(ofProbe('stays', 31), 'refused_epoch')
  t.equal(ofProbe('unknown', 4_294_967_295), 'refused_epoch')
  t.equal(findRefusal(undefined, undefined, 0), 'refused_epoch')
  t.equal(findNewestEpoch([{ epoch: 3 }, { epoch: 7 }, { epoch: 5 }]), 7)
  t.equal(findNewestEpoch([]), 0)
})

t.test('a reader waits for an epoch of a region ten seconds in five minutes', async t => {
  const waits = createEpochWaits()
  t.equal(mayWaitForEpoch(waits, 'us-east', 1_000), true)
  t.equal(mayWaitForEpoch(waits, 'us-east', 10_999), true)
  t.equal(mayWaitForEpoch(waits, 'us-east', 11_000), false)
  t.equal(mayWaitForEpoch(waits, 'eu-west', 11_000), true)
  t.equal(mayWaitForEpoch(waits, 'us-east', 310_999), false)
  t.equal(mayWaitForEpoch(waits, 'us-east', 311_000), true)
})

t.test('waits for several regions share twenty seconds in five minutes', async t => {
  const waits = createEpochWaits()
  t.equal(mayWaitForEpoch(waits, 'one', 0), true)
  t.equal(mayWaitForEpoch(waits, 'two', 10_000), true)
  t.equal(mayWaitForEpoch(waits, 'three', 20_000), true, 'for the second that was earned meanwhile')
  t.equal(mayWaitForEpoch(waits, 'three', 22_000), false)
  t.equal(mayWaitForEpoch(waits, 'four', 22_000), true)
  t.equal(mayWaitForEpoch(waits, 'four', 22_500), false)
})

t.test('a wait that ends early returns its rest to the other regions', async t => {
  const waits = createEpochWaits()
  const regions = ['one', 'two', 'three', 'four', 'five', 'six']
  for (const [n, region] of regions.entries()) {
    t.equal(mayWaitForEpoch(waits, region, n * 500), true, region)
    endEpochWait(waits, region, n * 500 + 400)
  }
  t.equal(mayWaitForEpoch(waits, 'seven', 3_000), true)
  t.equal(mayWaitForEpoch(waits, 'seven', 12_999), true, 'for the whole wait')
})
