import t from 'tap'
import { encodeBatch, encodePiece } from '../../../probe-agent/batch.ts'
import { missedResult } from '../../../probe-agent/observed.ts'
import { ResultBatch } from '../../../proto/gen/probe/v1/result.ts'

t.test('a batch put together from encoded results is the batch of result.proto', async t => {
  const subject = { monitorId: 'm1', configVersion: 2, epoch: 3 }
  const results = [1000, 31_000].map(slotMs => missedResult(subject, slotMs, slotMs + 30_000))
  const batch = { probeId: 'p1', region: 'eu-west', results }
  const bytes = encodeBatch('p1', 'eu-west', results.map(encodePiece))
  t.same(Buffer.from(bytes), Buffer.from(ResultBatch.encode(batch).finish()))
  t.same(ResultBatch.decode(bytes), batch)
})
