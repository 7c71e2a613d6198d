import t from 'tap'
import { connectNats, ensureStreams } from '../../control-plane/foundation/platform/nats/client.ts'
import { type RegionPositions, updateArrivals } from '../../control-plane/verdict/reader/unchecked/arrival-actions.ts'
import { createRegionCoverage } from '../../control-plane/verdict/reader/unchecked/region-coverage.ts'
import { lateSubject, resultSubject, witnessSubject } from '../../shared/nats/subjects.ts'
import { startNats } from '../support/nats.ts'

t.test('a process learns that results of a region arrive in partitions that it does not read', async t => {
  const server = await startNats(t)
  const nats = await connectNats(server.url, 'test')
  t.teardown(() => nats.close())
  await ensureStreams(nats.manager)
  const seen: RegionPositions = new Map()
  const regionCoverage = createRegionCoverage()
  const { receivedMs } = regionCoverage
  const ask = async () => {
    receivedMs.clear()
    await updateArrivals({ nats, regionCoverage }, seen)
    return [...receivedMs.keys()].sort()
  }
  await nats.js.publish(resultSubject(3, 'us-east'), 'x')
  t.same(await ask(), [], 'it is not known when the first one arrived')
  t.same(await ask(), [], 'nothing has arrived since')
  await nats.js.publish(resultSubject(11, 'us-east'), 'x')
  await nats.js.publish(resultSubject(4, 'eu-west'), 'x')
  t.same(await ask(), ['eu-west', 'us-east'])
  await nats.js.publish(witnessSubject(3), 'x')
  await nats.js.publish(lateSubject(3, 'us-east'), 'x')
  t.same(await ask(), [], 'checks of witnesses and late results show nothing')
  await nats.manager.streams.purge('RESULTS')
  t.same(await ask(), [], 'the messages were deleted')
  await nats.js.publish(resultSubject(0, 'us-east'), 'x')
  t.same(await ask(), ['us-east'])
})

t.test('a later time that is known already stays', async t => {
  const server = await startNats(t)
  const nats = await connectNats(server.url, 'test')
  t.teardown(() => nats.close())
  await ensureStreams(nats.manager)
  const regionCoverage = createRegionCoverage()
  const seen: RegionPositions = new Map([['us-east', { sequence: 0, askedMs: 0 }]])
  regionCoverage.receivedMs.set('us-east', Number.MAX_SAFE_INTEGER)
  await nats.js.publish(resultSubject(1, 'us-east'), 'x')
  await updateArrivals({ nats, regionCoverage }, seen)
  t.equal(regionCoverage.receivedMs.get('us-east'), Number.MAX_SAFE_INTEGER)
})
