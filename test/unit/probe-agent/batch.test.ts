import t from 'tap'
import { buildMissedResult } from '../../../probe-agent/execution/result-builder.ts'
import { encodeBatch, encodeBatchEntry } from '../../../probe-agent/results/batch.ts'
import { ResultBatch } from '../../../proto/gen/probe/v1/result.ts'

t.test('A batch concatenated from encoded results equals the batch of result.proto', async t => {
  const subject = { monitorId: 'm1', configVersion: 2, epoch: 3 }
  const results = [1000, 31_000].map(slotMs => buildMissedResult(subject, slotMs, slotMs + 30_000))
  const batch = { probeId: 'p1', region: 'eu-west', results }
  const bytes = encodeBatch('p1', 'eu-west', results.map(encodeBatchEntry))
  t.same(Buffer.from(bytes), Buffer.from(ResultBatch.encode(batch).finish()))
  t.same(ResultBatch.decode(bytes), batch)
})
