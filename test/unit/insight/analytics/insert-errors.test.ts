import t from 'tap'
import {
  classifyInsertError,
  createRetryTracker,
} from '../../../../control-plane/insight/analytics/recording/insert-errors.ts'

t.test('An insert error concerns the rows, the server, or is unknown', async t => {
  const cases: [string, string, string][] = [
    ['27', 'Cannot parse input', 'rows'],
    ['252', 'Too many partitions for single INSERT block (more than 100)', 'rows'],
    ['252', 'Too many parts (300). Merges are processing significantly slower than inserts', 'server'],
    ['241', 'Memory limit (total) exceeded', 'server'],
    ['243', 'Cannot reserve 1.00 MiB, not enough space', 'server'],
    ['60', 'Table picket.results does not exist', 'server'],
    ['469', 'Constraint is violated', 'unknown'],
  ]
  for (const [code, message, kind] of cases)
    t.equal(classifyInsertError(Object.assign(new Error(message), { code })), kind, code)
  t.equal(classifyInsertError(new Error('no code at all')), 'unknown')
})

t.test('Rejections of a message count only while others are accepted', async t => {
  const tries = createRetryTracker()
  for (let i = 0; i < 100; i++) tries.refuse('a')
  t.equal(tries.getCount('a'), 1, 'ClickHouse accepted nothing in between')
  t.equal(tries.pauseMs('a'), 2_000)
  for (let i = 0; i < 7; i++) {
    tries.accept(1)
    tries.refuse('a')
  }
  t.equal(tries.getCount('a'), 8)
  t.equal(tries.pauseMs('a'), 60_000, 'the delay grows')
  t.equal(tries.getCount('b'), 0)
  tries.forget('a')
  t.equal(tries.getCount('a'), 0)
})
