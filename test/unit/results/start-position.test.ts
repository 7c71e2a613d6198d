import t from 'tap'
import { isCounted, startOf } from '../../../control-plane/results/start-position.ts'

const partition = { id: 3, epoch: 7, position: 500, positionAtMs: 1_000_000, streamCreated: 'monday' }

t.test('Reading begins two minutes before the stored position, for the fences', async t => {
  const start = startOf(partition, { created: 'monday', lastSequence: 900 })
  t.same(start.from, { timeMs: 880_000 })
  t.ok(isCounted(start, { sequence: 500, takenAtMs: 1_000_000 }))
  t.notOk(isCounted(start, { sequence: 501, takenAtMs: 1_000_000 }), 'the next one, taken in the same millisecond')
})

t.test('A stream that was made anew is read from its beginning', async t => {
  const start = startOf(partition, { created: 'tuesday', lastSequence: 900 })
  t.same(start.from, { sequence: 1 })
  t.notOk(isCounted(start, { sequence: 1, takenAtMs: 1_000_001 }))
})

t.test('Sequences that a crash of the stream gave out twice are told apart by their time', async t => {
  const start = startOf(partition, { created: 'monday', lastSequence: 480 })
  t.notOk(isCounted(start, { sequence: 481, takenAtMs: 1_000_500 }))
})

t.test('A partition that was never read begins with its first message', async t => {
  const start = startOf({ ...partition, position: 0, positionAtMs: null }, { created: 'monday', lastSequence: 9 })
  t.same(start.from, { sequence: 1 })
  t.notOk(isCounted(start, { sequence: 1, takenAtMs: 5 }))
})
