import t from 'tap'
import {
  type CheckpointPosition,
  computeStartPosition,
  countDroppedMessages,
  isAlreadyCounted,
} from '../../../../control-plane/verdict/reader/partitions/start-position.ts'

const partition = { id: 3, epoch: 7, position: 500, positionAtMs: 1_000_000, streamCreated: 'monday' }

t.test('Reading begins two minutes before the stored position, for the high-water marks', async t => {
  const start = computeStartPosition(
    partition,
    { created: 'monday', firstSequence: 1, lastSequence: 900, lastAtMs: 1_400_000 },
    { mark: null, foundAtMs: 1_000_000, voteMs: 0 },
  )
  t.same(start.from, { timeMs: 880_000 })
  t.ok(isAlreadyCounted(start, { sequence: 500, takenAtMs: 1_000_000 }))
  t.notOk(
    isAlreadyCounted(start, { sequence: 501, takenAtMs: 1_000_000 }),
    'the next one, taken in the same millisecond',
  )
})

t.test('Without a checkpoint, results are read again for twice the lifetime of a vote, at most 16 minutes', async t => {
  const stream = { created: 'monday', firstSequence: 1, lastSequence: 900, lastAtMs: 9_400_000 }
  const fromMs = (voteMs: number, mark: CheckpointPosition | null = null) =>
    computeStartPosition({ ...partition, positionAtMs: 9_000_000 }, stream, { mark, foundAtMs: 9_000_000, voteMs })
  for (const [voteMs, backMs] of [
    [0, 120_000],
    [50_000, 120_000],
    [240_000, 480_000],
    [960_000, 960_000],
    [10_860_000, 960_000],
  ] as const) {
    const start = fromMs(voteMs)
    t.match(start, { from: { timeMs: 9_000_000 - backMs }, isMarked: false, knownFromMs: 9_000_000 - backMs })
  }
  const old = { streamCreated: 'monday', sequence: 490, takenAtMs: 8_800_000 }
  t.match(fromMs(240_000, old), { from: { timeMs: 8_800_000 }, isMarked: true, knownFromMs: null })
  t.match(fromMs(90_000, old), { from: { timeMs: 8_820_000 }, isMarked: false }, 'the checkpoint is older than that')
})

t.test('Votes keep their age from the checkpoint even if the stream was created again', async t => {
  const mark = { streamCreated: 'monday', sequence: 490, takenAtMs: 995_000 }
  const next = { created: 'tuesday', firstSequence: 1, lastSequence: 0, lastAtMs: 0 }
  const known = { mark, foundAtMs: null, voteMs: 0 }
  const start = computeStartPosition(partition, next, known)
  t.match(start, { position: 0, from: { sequence: 1 }, isMarked: true, knownFromMs: null })
  const nothingYet = { ...partition, position: 0, positionAtMs: null, streamCreated: 'tuesday' }
  t.match(computeStartPosition(nothingYet, next, known), { from: { sequence: 1 }, isMarked: true, knownFromMs: null })
  t.match(computeStartPosition(partition, next, { ...known, mark: null }), { isMarked: false, knownFromMs: 1_000_000 })
  const before = { ...mark, streamCreated: 'sunday' }
  t.notOk(computeStartPosition(partition, next, { ...known, mark: before }).isMarked)
})

t.test('A stream that was created again is read from its beginning', async t => {
  const start = computeStartPosition(
    partition,
    { created: 'tuesday', firstSequence: 1, lastSequence: 900, lastAtMs: 1_400_000 },
    { mark: null, foundAtMs: 900_000, voteMs: 0 },
  )
  t.same(start.from, { sequence: 1 })
  t.notOk(isAlreadyCounted(start, { sequence: 1, takenAtMs: 1_000_001 }))
})

t.test('Sequences that were assigned twice after a crash are distinguished by their time', async t => {
  const start = computeStartPosition(
    partition,
    { created: 'monday', firstSequence: 1, lastSequence: 480, lastAtMs: 990_000 },
    { mark: null, foundAtMs: null, voteMs: 0 },
  )
  t.same(start.from, { timeMs: 880_000 })
  t.notOk(isAlreadyCounted(start, { sequence: 481, takenAtMs: 1_000_500 }))
})

t.test('A partition that was never read begins with its first message', async t => {
  const start = computeStartPosition(
    { ...partition, position: 0, positionAtMs: null },
    { created: 'monday', firstSequence: 1, lastSequence: 9, lastAtMs: 5 },
    { mark: null, foundAtMs: null, voteMs: 0 },
  )
  t.same(start.from, { sequence: 1 })
  t.notOk(isAlreadyCounted(start, { sequence: 1, takenAtMs: 5 }))
})

t.test('Messages that left the stream after the stored position are counted', async t => {
  const droppedWith = (firstSequence: number, changes = {}) => {
    const stream = { created: 'monday', firstSequence, lastSequence: 900, lastAtMs: 1_400_000 }
    return countDroppedMessages(
      computeStartPosition({ ...partition, ...changes }, stream, { mark: null, foundAtMs: 1_000_000, voteMs: 0 }),
      stream,
    )
  }
  t.equal(droppedWith(1), 0)
  t.equal(droppedWith(501), 0, 'the next one is there')
  t.equal(droppedWith(511), 10)
  t.equal(droppedWith(511, { position: 0, positionAtMs: null }), 0, 'nothing was read yet')
})

t.test('After JetStream’s clock was set back, nothing is counted twice or skipped', async t => {
  const start = computeStartPosition(
    partition,
    { created: 'monday', firstSequence: 1, lastSequence: 900, lastAtMs: 400_000 },
    { mark: null, foundAtMs: 1_000_000, voteMs: 0 },
  )
  t.same(start.from, { sequence: 501 }, 'no place in the stream is found by a time that is ahead of its end')
  const later = computeStartPosition(
    partition,
    { created: 'monday', firstSequence: 1, lastSequence: 900, lastAtMs: 1_400_000 },
    { mark: null, foundAtMs: 1_000_000, voteMs: 0 },
  )
  t.ok(
    isAlreadyCounted(later, { sequence: 300, takenAtMs: 4_600_000 }),
    'a message from when the clock was ahead was counted',
  )
})

t.test('Reading begins at a recent checkpoint that is not newer than the position', async t => {
  const stream = { created: 'monday', firstSequence: 1, lastSequence: 900, lastAtMs: 1_400_000 }
  const mark = { streamCreated: 'monday', sequence: 490, takenAtMs: 995_000 }
  t.same(computeStartPosition(partition, stream, { mark, foundAtMs: 1_000_000, voteMs: 0 }).from, { timeMs: 995_000 })
  for (const other of [
    { ...mark, streamCreated: 'sunday' },
    { ...mark, sequence: 501 },
    { ...mark, takenAtMs: 1_000_001 },
    { ...mark, takenAtMs: 880_000 },
  ]) {
    const start = computeStartPosition(partition, stream, { mark: other, foundAtMs: 1_000_000, voteMs: 0 })
    t.same(start.from, { timeMs: 880_000 })
    t.notOk(start.isMarked)
  }
})
