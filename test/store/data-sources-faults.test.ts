import t from 'tap'
import { createSecretCipher } from '../../control-plane/foundation/platform/crypto/encryption.ts'
import { connectNats, ensureStreams } from '../../control-plane/foundation/platform/nats/client.ts'
import { createPostgres, execute, query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startDataSourceWorker } from '../../control-plane/integrations/data-sources/fetching/worker.ts'
import { createEgress } from '../../shared/egress/index.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { createSource } from '../support/child-sources.ts'
import { createDatabase } from '../support/database.ts'
import { startNats } from '../support/nats.ts'
import { startTarget } from '../support/target.ts'
import { waitFor } from '../support/wait.ts'

const db = createPostgres((await createDatabase(t)).url)
const nats = await connectNats((await startNats(t)).url, 'test')
await ensureStreams(nats.manager)
const target = await startTarget(t)
const secrets = createSecretCipher(Buffer.alloc(32))
const worker = startDataSourceWorker({
  ...{ db, nats, secrets, publicUrl: 'https://picket.test' },
  ...{ log: createLog('test', 'silent'), metrics: createMetrics() },
  egress: createEgress({ allow: ['127.0.0.0/8'] }),
})
t.teardown(async () => {
  await worker.stop()
  await Promise.all([db.destroy(), nats.close()])
})

type Source = Awaited<ReturnType<typeof createSource>>

const readSource = async ({ id }: Source) => {
  const sql = `SELECT last_error AS "lastError", failures, lease_owner IS NOT NULL AS "isLeased"
    FROM data_sources WHERE id = ?`
  const [row] = await query<{ lastError: string | null; failures: number; isLeased: boolean }>(db, sql, [id])
  return row!
}

const readStatuses = async (source: Source) => (await source.monitors()).map(({ status }) => status)

/** A source whose monitor is up, and that is due again at its next slot. The worker fetches it from `path`. */
async function createFetched(path: string) {
  target.behaveAt(`/${path}`, { kind: 'answer', body: '{"cells":{"a":1}}' })
  const source = await createSource(db, 3_600, `${target.url}${path}`)
  const makeDue = async () => {
    await execute(db, 'UPDATE data_sources SET next_fetch_at = now() WHERE id = ?', [source.id])
    worker.wake()
  }
  const becomes = (status: string | null) =>
    waitFor(async () => (await readStatuses(source)).every(one => one === status), { label: `${path} ${status}` })
  worker.wake()
  await waitFor(async () => (await readStatuses(source)).length === 1, { label: 'the monitor' })
  await becomes('up')
  return { source, makeDue, becomes }
}

/** Makes statements on the rows of a table fail with an SQLSTATE. Returns a function that ends it. */
async function refuseRows(table: string, operation: string, code: string, condition: string) {
  await execute(
    db,
    `CREATE FUNCTION refuse_row() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN RAISE 'refused' USING ERRCODE = '${code}'; END $$`,
  )
  await execute(
    db,
    `CREATE TRIGGER refuse BEFORE ${operation} ON ${table} FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION refuse_row()`,
  )
  return () => execute(db, 'DROP FUNCTION refuse_row CASCADE')
}

t.test('Secrets that do not decrypt make the monitors unknown, until they are entered again', async t => {
  const columns = [
    ['headers', null, Buffer.from('not encrypted')],
    ['auth_config', 'bearer', secrets.encrypt('{"token":"x"}', 'another record')],
  ] as const
  for (const [column, authType, bytes] of columns) {
    const { source, makeDue, becomes } = await createFetched(`secrets-${column}`)
    const set = `UPDATE data_sources SET auth_type = ?, ${column} = ? WHERE id = ?`
    await execute(db, set, [authType, bytes, source.id])
    await makeDue()
    await becomes(null)
    const message = 'Picket could not decrypt the stored headers or credentials of this data source'
    t.match(await readSource(source), { lastError: message, failures: 0, isLeased: false })
    t.same([await source.events(), await source.incidents()], [[], []])
    await execute(db, set, [null, null, source.id])
    await makeDue()
    await becomes('up')
    t.match(await readSource(source), { lastError: null })
  }
})

t.test('A result that cannot be stored makes the monitors unknown', async t => {
  for (const code of ['22000', 'P0001']) {
    const { source, makeDue, becomes } = await createFetched(`stored-${code}`)
    const accept = await refuseRows('data_source_children', 'INSERT', code, `NEW.data_source_id = '${source.id}'`)
    target.behaveAt(`/stored-${code}`, { kind: 'answer', body: '{"cells":{"a":1,"b":1}}' })
    await makeDue()
    await becomes(null)
    const lastError = 'Picket could not process this data source because of an error of its own'
    await waitFor(async () => !(await readSource(source)).isLeased, { label: 'the end' })
    t.match(await readSource(source), { lastError, failures: 0 })
    await accept()
    await makeDue()
    await waitFor(async () => (await readStatuses(source)).length === 2, { label: 'the new monitor' })
    await becomes('up')
  }
})

t.test('A failure that cannot be stored with its transitions makes the monitors unknown, too', async t => {
  const { source, makeDue, becomes } = await createFetched('transitions')
  const accept = await refuseRows('transitions', 'INSERT', '22000', `NEW.project_id = '${source.projectId}'`)
  await execute(db, 'UPDATE data_sources SET headers = ? WHERE id = ?', [Buffer.from('?'), source.id])
  await makeDue()
  await becomes(null)
  t.match(await readSource(source), { lastError: /could not decrypt/, failures: 0, isLeased: false })
  await accept()
  await execute(db, 'UPDATE data_sources SET headers = NULL WHERE id = ?', [source.id])
  await makeDue()
  await becomes('up')
})

t.test('A deadlock while the result is stored changes no status', async t => {
  const { source, makeDue } = await createFetched('deadlock')
  const accept = await refuseRows('data_source_children', 'INSERT', '40P01', `NEW.data_source_id = '${source.id}'`)
  target.behaveAt('/deadlock', { kind: 'answer', body: '{"cells":{"a":1,"b":1}}' })
  const requests = () => target.requests.filter(({ path }) => path === '/deadlock').length
  const before = requests()
  await makeDue()
  await waitFor(() => requests() > before + 1, { label: 'another fetch' })
  t.same(await readStatuses(source), ['up'])
  t.match(await readSource(source), { lastError: null })
  await accept()
  await waitFor(async () => (await readStatuses(source)).length === 2, { label: 'the new monitor' })
})
