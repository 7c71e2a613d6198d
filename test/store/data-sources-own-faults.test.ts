import t from 'tap'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { createOwnFaultDetector } from '../../control-plane/foundation/platform/network/own-faults.ts'
import { createPostgres, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { monotonicMs } from '../../control-plane/foundation/platform/time/clock.ts'
import { buildUnexamined } from '../../control-plane/integrations/data-sources/evaluation/examine-reader.ts'
import { fetchSource } from '../../control-plane/integrations/data-sources/fetching/fetch-reader.ts'
import { type FetchResult, judgeFailure } from '../../control-plane/integrations/data-sources/fetching/fetch-result.ts'
import { toEgressFailure } from '../../shared/egress/failure.ts'
import { createEgress } from '../../shared/egress/index.ts'
import { QuestionError } from '../../shared/process/thread.ts'
import { createSource } from '../support/child-sources.ts'
import { createDatabase } from '../support/database.ts'

const db = createPostgres((await createDatabase(t)).url)
t.teardown(() => db.destroy())
const secrets = createSecretCipher(Buffer.alloc(32))
const INCIDENT = [{ title: 'Data source Cells cannot be fetched', status: 'investigating' }]

const countFailures = async (id: string) =>
  (await query<{ failures: number }>(db, 'SELECT failures FROM data_sources WHERE id = ?', [id]))[0]!.failures

t.test('An address that Picket never reaches while others answer opens the incident of the source', async t => {
  const source = await createSource(db)
  const resolver = async () => {
    throw toEgressFailure({ code: 'ENETUNREACH' })
  }
  const ownFaults = createOwnFaultDetector()
  const tools = { db, secrets, ownFaults, egress: createEgress({ allow: [], resolver }) }
  const fetch = async () => {
    const results: FetchResult[] = []
    await source.fetchResult(async claimed => {
      const { result } = await fetchSource(tools, claimed, new AbortController().signal)
      results.push(result)
      return result
    })
    return results[0]
  }
  t.match(await fetch(), { failure: { code: 'network_unreachable', isOurFault: true } }, 'nothing answers')
  const timings = { dnsUs: 0, connectUs: 0, tlsUs: 0, firstByteUs: 0, transferUs: 0 }
  ownFaults.inspect('other.example', { error: null, statusCode: 200, timings }, monotonicMs() + 11 * 60_000)
  for (let i = 0; i < 2; i++) t.match(await fetch(), { failure: { isOurFault: false } })
  t.same(await source.incidents(), [])
  await fetch()
  t.match(await source.incidents(), INCIDENT)
})

t.test(
  'A document that is always too costly opens the incident of the source, and a single one counts nothing',
  async t => {
    const source = await createSource(db)
    const fails = (error: Error) =>
      source.fetchResult(async claimed => ({ failure: judgeFailure(claimed, buildUnexamined(error).failure) }))
    for (let i = 0; i < 4; i++) await fails(new Error('other documents take too long'))
    const tooLong = new QuestionError('it takes more than 20 s')
    await fails(tooLong)
    t.equal(await countFailures(source.id), 0)
    for (let i = 0; i < 2; i++) await fails(tooLong)
    t.same(await source.incidents(), [])
    await fails(tooLong)
    t.match(await source.incidents(), INCIDENT)
  },
)
