import t from 'tap'
import { ResultBatch } from '../../../shared/checks/result.ts'
import { computePartition } from '../../../shared/nats/subjects.ts'
import { seededRandom } from '../../chaos/random.ts'
import { createWrongMessages, hasMatchingRegion } from '../../chaos/wrong-messages.ts'

const id = '01900000-0000-7000-8000-000000000001'
const around = { stream: 'RESULTS', regions: ['us-east'], monitorIds: [id], nowMs: 1_800_000_000_000 }
const messages = createWrongMessages(seededRandom(3), around)

const decoded = (data: Uint8Array) => {
  try {
    return ResultBatch.decode(data)
  } catch {
    return null
  }
}

t.test('the same seed gives the same messages, and another seed gives others', async t => {
  const formatMessages = (seed: number) =>
    createWrongMessages(seededRandom(seed), around)
      .map(({ subject, data }) => `${subject} ${Buffer.from(data).toString('hex')}`)
      .join()
  const [first, again, other] = [3, 3, 4].map(formatMessages)
  t.ok(again === first)
  t.ok(other !== first)
})

t.test('some messages are not a batch, some have another region, and NATS accepts all of them', async t => {
  const batches = messages.map(({ subject, data }) => ({ subject, batch: decoded(data) }))
  t.ok(batches.some(({ batch }) => batch === null))
  t.ok(
    batches.some(({ subject, batch }) => batch !== null && batch.region !== '' && !hasMatchingRegion(subject, batch)),
  )
  t.ok(messages.every(({ subject, data }) => subject.split('.').length === 3 && data.length < 1_000_000))
})

t.test('no result of an existing monitor has an epoch that counts', async t => {
  const results = messages.flatMap(({ subject, data }) =>
    (decoded(data)?.results ?? []).filter(({ monitorId }) => monitorId === id).map(result => ({ subject, result })),
  )
  t.ok(results.some(({ subject }) => subject === `RESULTS.${computePartition(id)}.us-east`))
  t.same(new Set(results.map(({ result }) => result.epoch)), new Set([0]))
})
