import { request } from 'node:http'
import t from 'tap'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startImportCleanup } from '../../control-plane/integrations/import-export/jobs/cleanup-worker.ts'
import { MAX_UPLOAD_BYTES } from '../../control-plane/integrations/import-export/jobs/upload-store.ts'
import { createLog } from '../../shared/process/log.ts'
import { createMetrics } from '../../shared/process/metrics.ts'
import { shareApi } from '../support/api-server.ts'
import { ended, OCTETS, planned, upload } from '../support/import-jobs.ts'
import {
  buildKumaDatabase,
  buildLargeKumaDatabase,
  KUMA_TABLES,
  KUMA_VERSIONS,
  readMigratedDatabase,
} from '../support/kuma-database.ts'
import { recordReading } from '../support/read-answers.ts'
import { answerBeforeBody } from '../support/unfinished-request.ts'
import { waitFor } from '../support/wait.ts'

const api = await shareApi()
const MONITOR = { name: 'Shop', type: 'http', url: 'https://shop.example.com/', rules: [] }
const buildFile = (...monitors: object[]) => JSON.stringify({ version: 1, monitors })
const get = (key: string, path: string) => api.call('GET', path, { key })

for (const version of [1, 2] as const) {
  t.test(`A kuma.db of version ${version} is planned, applied, and a second import changes nothing`, async t => {
    const { key } = await api.tenant('business')
    const bytes = buildKumaDatabase(version, KUMA_TABLES)
    const job = await planned(api, key, 'from=uptime-kuma&file_name=kuma.db', bytes)
    t.match(job, {
      ...{
        status: 'ready',
        from: 'uptime-kuma',
        file_name: 'kuma.db',
        bytes: bytes.length,
        can_apply: true,
        error: null,
      },
      summary: { create: 5, update: 0, left_out: 2 },
    })
    t.equal((await get(key, '/monitors')).body.meta.total, 0, 'a plan changes nothing')
    const items = (await get(key, `/imports/${job.id}/items?per_page=100`)).body.data
    t.match(
      items.find(({ key }: { key: string }) => key === 'Queue'),
      { action: 'left_out', warnings: [/rabbitmq are not supported/] },
    )
    t.match(
      items.find(({ key }: { key: string }) => key === 'Job'),
      { action: 'create', resource: 'monitor', warnings: [/new ping address/] },
    )
    t.notMatch(JSON.stringify(items), /secret-of-slack/)
    t.equal((await api.call('POST', `/imports/${job.id}/apply`, { key })).status, 202)
    t.match(await ended(api, key, job.id), { status: 'applied', can_apply: false, summary: { create: 5 } })
    const { data } = (await get(key, '/monitors?sort=name')).body
    t.match(data, [
      { name: 'Job', type: 'heartbeat' },
      { name: 'Router', type: 'ping', is_paused: true, interval_seconds: 30 },
      { name: 'Shop', url: 'https://shop.example.com/health', tags: ['Production', 'team: web'], auth_type: 'basic' },
    ])
    t.equal((await api.call('POST', `/imports/${job.id}/apply`, { key })).status, 409, 'it is applied once')
    const again = await planned(api, key, 'from=uptime-kuma', bytes)
    t.match(again.summary, { create: 0, update: 0, delete: 0 })
    const unchanged = (await get(key, `/imports/${again.id}/items?action=unchanged&q=SHO`)).body
    t.match(unchanged, { meta: { total: 2 }, data: [{ key: 'Shop' }, { key: /Shop/ }] })
  })
}

t.test('Databases that the migrations of Uptime Kuma made are planned and applied', async t => {
  for (const version of KUMA_VERSIONS) {
    const { key } = await api.tenant('business')
    const create = version === '2.5.3' ? 16 : 14
    const job = await planned(api, key, 'from=uptime-kuma&dry_run=false', readMigratedDatabase(version))
    t.match(job, { status: 'applied', error: null, summary: { create, left_out: 5 } }, version)
    const items = (await get(key, `/imports/${job.id}/items?action=left_out`)).body.data
    t.match(
      items.map(({ key, warnings }: { key: string; warnings: string[] }) => `${key}: ${warnings}`),
      [/^Telegram: /, /^Queue: /, /^Container: /, /^Firewall: /, /^Inside: blocked_target: .* cannot be a target/],
      'also what the checks of targets refuse is listed by its name',
    )
    t.match((await get(key, '/monitors?q=shop')).body.data, [{ name: 'Shop', auth_type: 'basic', ssl_check: true }])
    t.equal((await get(key, '/alerts/channels')).body.data.length, 3)
  }
})

t.test('A file of 3,000 monitors is planned and applied, and its items are listed by page', async t => {
  const { key } = await api.tenant('business')
  const job = await planned(api, key, 'from=uptime-kuma&dry_run=false', buildLargeKumaDatabase(3_000))
  t.match(job, { status: 'applied', summary: { create: 6_001 } })
  t.equal((await get(key, '/monitors')).body.meta.total, 3_000)
  const { data, meta } = (await get(key, `/imports/${job.id}/items?per_page=50&page=2&action=create`)).body
  t.equal(data.length, 50)
  t.equal(meta.total, 6_001)
  t.equal((await get(key, `/imports/${job.id}/items?page=0`)).status, 400)
})

t.test('Each change of an applied import is in the audit log in the name of the key', async t => {
  const { key } = await api.tenant()
  const job = await planned(api, key, 'dry_run=false', buildFile(MONITOR))
  t.match(job, { status: 'applied', summary: { create: 1 } })
  const { data } = (await get(key, '/audit-log')).body
  t.match(data, [{ action: 'created', resource: 'monitor', resource_name: 'Shop', actor: { kind: 'api_key' } }])
})

t.test('A plan writes no entry of the audit log, also none that is rolled back', async t => {
  const { key } = await api.tenant()
  const readLast = async () => {
    const [row] = await query<{ last: string }>(
      api.db,
      `SELECT last_value AS last FROM pg_sequences WHERE sequencename = 'audit_log_seq_seq'`,
    )
    return row!.last
  }
  const before = await readLast()
  t.ok(before)
  t.match(await planned(api, key, '', buildFile(MONITOR)), { status: 'ready', summary: { create: 1 } })
  t.equal(await readLast(), before)
})

t.test('Files in YAML and of Gatus are accepted, and prune deletes what a file does not name', async t => {
  const { key } = await api.tenant()
  const yaml = 'version: 1\nmonitors:\n  - name: Shop\n    type: http\n    url: https://shop.example.com/\n'
  t.match(await planned(api, key, 'dry_run=false', yaml), { status: 'applied', summary: { create: 1 } })
  const gatus = 'endpoints:\n  - name: Web\n    url: https://web.example.com\n    conditions: ["[STATUS] == 200"]\n'
  t.match(await planned(api, key, 'from=gatus&prune=true', gatus), { summary: { create: 1, delete: 1 } })
})

t.test('The apply of a plan with prune deletes nothing that the plan did not list', async t => {
  const { key } = await api.tenant()
  const create = (name: string) =>
    api.call('POST', '/monitors', {
      key,
      body: { name, type: 'http', url: 'https://x.example.com', regions: ['us-east'] },
    })
  await create('Old')
  const file = 'version: 1\nmonitors:\n  - name: Shop\n    type: http\n    url: https://shop.example.com/\n'
  const plan = await planned(api, key, 'prune=true', file)
  t.match(plan, { status: 'ready', summary: { create: 1, delete: 1 } })
  await create('Of a colleague')
  for (let attempt = 1; attempt <= 2; attempt++) {
    await api.call('POST', `/imports/${plan.id}/apply`, { key })
    const failed = await ended(api, key, plan.id)
    t.match(failed, {
      status: 'failed',
      error: { code: 'conflict', message: /the deletion of Of a colleague; nothing was/ },
    })
    const { data } = (await get(key, '/monitors')).body
    t.same(data.map(({ name }: { name: string }) => name).sort(), ['Of a colleague', 'Old'])
  }
  const next = await planned(api, key, 'prune=true', file)
  await api.call('POST', `/imports/${next.id}/apply`, { key })
  t.match(await ended(api, key, next.id), { status: 'applied', summary: { create: 1, delete: 2 } })
})

t.test('The apply of a plan with prune deletes no field of a data source that the plan did not list', async t => {
  const { key } = await api.tenant()
  const field = (name_template: string, path: string) => ({ path, name_template, rule_type: 'truthy', rule_config: {} })
  const source = { name: 'Queues', url: 'https://queues.example.com/' }
  const body = { ...source, fields: [field('Old', 'old'), field('Kept', 'kept')] }
  const { id } = (await api.call('POST', '/data-sources', { key, body })).body.data
  const readFields = async () =>
    (await get(key, `/data-sources/${id}/fields`)).body.data
      .map((one: { name_template: string }) => one.name_template)
      .sort()
  const file = JSON.stringify({ version: 1, data_sources: [{ ...source, fields: [field('Kept', 'kept')] }] })
  const plan = await planned(api, key, 'prune=true', file)
  t.match(plan, { status: 'ready', summary: { update: 1, delete: 1 } })
  const deletion = { action: 'delete', resource: 'data_source_field', key: 'Queues / Old' }
  t.match((await get(key, `/imports/${plan.id}/items?action=delete`)).body.data, [deletion])
  const added = { ...field('Of a colleague', 'new'), display_order: 9 }
  t.equal((await api.call('POST', `/data-sources/${id}/fields`, { key, body: added })).status, 201)
  await api.call('POST', `/imports/${plan.id}/apply`, { key })
  t.match(await ended(api, key, plan.id), {
    ...{
      status: 'failed',
      error: { code: 'conflict', message: /the deletion of Queues \/ Of a colleague; nothing was/ },
    },
  })
  t.same(await readFields(), ['Kept', 'Of a colleague', 'Old'])
  const next = await planned(api, key, 'prune=true', file)
  await api.call('POST', `/imports/${next.id}/apply`, { key })
  t.match(await ended(api, key, next.id), { status: 'applied', summary: { update: 1, delete: 2 } })
  t.same(await readFields(), ['Kept'])
  t.match(await planned(api, key, '', buildFile()), { summary: { delete: 0 } })
})

t.test('Prune deletes nothing while an entry of the file cannot be imported', async t => {
  const { key } = await api.tenant()
  const gatus = (urls: Record<string, string>) =>
    `endpoints:\n${Object.entries(urls)
      .map(([name, url]) => `  - name: ${name}\n    url: ${url}\n    conditions: ["[CONNECTED] == true"]\n`)
      .join('')}`
  const apply = (urls: Record<string, string>) => planned(api, key, 'from=gatus&prune=true&dry_run=false', gatus(urls))
  const names = async () => (await get(key, '/monitors')).body.data.map(({ name }: { name: string }) => name).sort()
  const One = 'https://one.example.com'
  t.match(await apply({ One, Two: 'https://two.example.com' }), { status: 'applied', summary: { create: 2 } })
  const others: Record<string, string>[] = [{ Two: 'gopher://two.example.com' }, { Three: 'http://169.254.169.254/' }]
  for (const other of others) {
    const job = await apply({ One, ...other })
    t.match(job, { status: 'applied', summary: { left_out: 1, delete: 0 } })
    const items = (await get(key, `/imports/${job.id}/items`)).body.data
    t.match(JSON.stringify(items), 'nothing was deleted, because entries of the file were left out')
    t.same(await names(), ['One', 'Two'])
  }
  t.match(await apply({ One }), { status: 'applied', summary: { delete: 1 } })
  t.same(await names(), ['One'])
})

t.test('A file with faults fails with all of them, and nothing is changed', async t => {
  const { key } = await api.tenant('free')
  const faulty = buildFile(MONITOR, { ...MONITOR, name: 'Fast', interval_seconds: 1 })
  t.match(await planned(api, key, 'dry_run=false', faulty), {
    ...{ status: 'failed', can_apply: false },
    error: { status: 400, details: [{ path: 'monitors[1].interval_seconds', message: /at least 30 \(Fast\)/ }] },
  })
  const forbidden = buildFile(MONITOR, { ...MONITOR, name: 'Inside', url: 'http://169.254.169.254/' })
  const job = await planned(api, key, 'dry_run=false', forbidden)
  t.match(job, { status: 'failed', error: { status: 400, message: /blocked_target/ } })
  t.equal((await get(key, '/monitors')).body.meta.total, 0)
  const many = buildFile(...Array.from({ length: 51 }, (_, i) => ({ ...MONITOR, name: `Shop ${i}` })))
  t.match(await planned(api, key, 'dry_run=false', many), { error: { status: 402, code: 'tier_limit_reached' } })
  t.equal((await get(key, '/monitors')).body.meta.total, 0)
})

t.test('POST /imports 400, 403 and 415 for a wrong query, a read key, and another content type', async t => {
  const { key, ...tenant } = await api.tenant()
  t.match((await upload(api, key, 'from=nagios', 'x')).body.error.details, [{ path: 'from' }])
  t.equal((await upload(api, await api.createKey(tenant, 'read'), '', 'x')).status, 403)
  t.equal((await api.call('POST', '/imports', { key, body: { version: 1 } })).status, 415)
  t.equal((await api.call('POST', '/imports', { key })).status, 400)
})

t.test('The same Idempotency-Key uploads a file once', async t => {
  const { key } = await api.tenant()
  const headers = { ...OCTETS, 'idempotency-key': 'import-1' }
  const first = await api.call('POST', '/imports', { key, body: buildFile(MONITOR), headers })
  await ended(api, key, first.body.data.id)
  const again = await api.call('POST', '/imports', { key, body: buildFile(MONITOR), headers })
  t.equal(again.body.data.id, first.body.data.id)
  t.equal((await get(key, '/imports')).body.meta.total, 1)
  const other = await api.call('POST', '/imports?prune=true', { key, body: buildFile(MONITOR), headers })
  t.equal(other.status, 409)
})

t.test('An import of another project is not found', async t => {
  const { key } = await api.tenant()
  const { key: foreign } = await api.tenant()
  const { id } = await planned(api, key, '', buildFile(MONITOR))
  for (const unknown of [id, 'x']) {
    t.equal((await get(foreign, `/imports/${unknown}`)).status, 404)
    t.equal((await get(foreign, `/imports/${unknown}/items`)).status, 404)
    t.equal((await api.call('POST', `/imports/${unknown}/apply`, { key: foreign })).status, 404)
    t.equal((await api.call('DELETE', `/imports/${unknown}`, { key: foreign })).status, 404)
  }
  t.equal((await get(foreign, '/imports')).body.meta.total, 0)
  t.equal((await api.call('DELETE', `/imports/${id}`, { key })).status, 200)
  t.equal((await get(key, `/imports/${id}`)).status, 404)
})

t.test('An import whose process has ended says so, does not block the next one, and can be applied', async t => {
  const { key } = await api.tenant()
  const { id } = await planned(api, key, '', buildFile(MONITOR))
  const kill = () =>
    api
      .db('import_jobs')
      .where({ id })
      .update({ status: 'applying', alive_at: new Date(Date.now() - 120_000) })
  await kill()
  const { data } = (await get(key, `/imports/${id}`)).body
  t.match(data, { status: 'failed', can_apply: true, error: { message: /process .* has ended; nothing was changed/ } })
  t.equal((await planned(api, key, '', buildFile(MONITOR))).status, 'ready')
  await kill()
  const applying = await api.call('POST', `/imports/${id}/apply`, { key })
  t.match([applying.status, applying.body.data], [202, { status: 'applying', can_apply: false, error: null }])
  t.match(await ended(api, key, id), { status: 'applied', summary: { create: 1 } })
  await kill()
  t.equal((await api.call('DELETE', `/imports/${id}`, { key })).status, 200)
})

t.test(
  'A plan that is applied minutes later is applying, and items hide addresses of channels from a read key',
  async t => {
    const { key, ...tenant } = await api.tenant()
    const config = { url: 'https://hooks.example.com/secret' }
    const channel = { name: 'Ops', type: 'webhook', config }
    const { id } = await planned(api, key, '', JSON.stringify({ version: 1, alert_channels: [channel] }))
    const items = async (as: string) => JSON.stringify((await get(as, `/imports/${id}/items`)).body.data)
    t.match(await items(key), 'hooks.example.com')
    t.notMatch(await items(await api.createKey(tenant, 'read')), 'hooks.example.com')
    await api
      .db('import_jobs')
      .where({ id })
      .update({ alive_at: new Date(Date.now() - 120_000) })
    t.match((await api.call('POST', `/imports/${id}/apply`, { key })).body.data, { status: 'applying', error: null })
    t.match(await ended(api, key, id), { status: 'applied' })
  },
)

t.test('DELETE /imports/{id} and a second upload are 409 while an import is running', async t => {
  const { key } = await api.tenant()
  const { id } = await planned(api, key, '', buildFile(MONITOR))
  await api.db('import_jobs').where({ id }).update({ status: 'applying', alive_at: new Date() })
  t.equal((await api.call('DELETE', `/imports/${id}`, { key })).status, 409)
  t.equal((await api.call('POST', `/imports/${id}/apply`, { key })).status, 409)
  const refused = await upload(api, key, '', buildFile(MONITOR))
  t.match([refused.status, refused.body.error.message], [409, /another import of this project is running/])
})

t.test('An import is deleted a day after its upload, but not while it is running', async t => {
  const keys = await Promise.all(['old', 'running', 'new'].map(async () => (await api.tenant()).key))
  const ids = await Promise.all(keys.map(async key => (await planned(api, key, '', buildFile(MONITOR))).id))
  const dayAgo = new Date(Date.now() - 25 * 3_600_000)
  const change = (id: string, columns: object) => api.db('import_jobs').where({ id }).update(columns)
  await change(ids[0]!, { created_at: dayAgo, alive_at: dayAgo })
  await change(ids[1]!, { created_at: dayAgo, status: 'applying', alive_at: new Date() })
  const cleanup = startImportCleanup({ db: api.db, log: createLog('test', 'silent'), metrics: createMetrics() })
  t.teardown(() => cleanup.stop())
  const statuses = () => Promise.all(ids.map(async (id, i) => (await get(keys[i]!, `/imports/${id}`)).status))
  await waitFor(async () => (await statuses())[0] === 404)
  t.same(await statuses(), [404, 200, 200])
})

t.test('An upload that is too large is refused before it is read, and one that is cut off changes nothing', async t => {
  const { key } = await api.tenant()
  const headers = { ...OCTETS, authorization: `Bearer ${key}` }
  const url = `${api.origin}/api/v1/imports`
  const { status, text } = recordReading('POST', url, await answerBeforeBody(url, headers, MAX_UPLOAD_BYTES + 1))
  t.equal(status, 413)
  t.match(text, /the file must not be larger than 256 MiB/)
  const cut = request(url, { method: 'POST', agent: false, headers: { ...headers, 'content-length': '5000000' } })
  cut.on('error', () => {})
  cut.write(Buffer.alloc(2_000_000))
  const list = async () => (await api.call('GET', '/imports', { key })).body.data
  const [job] = await waitFor(async () => {
    const jobs = await list()
    return jobs.some(({ status }: { status: string }) => status === 'uploading') && jobs
  })
  const second = await api.call('POST', '/imports', { key, body: '{"version":1}', headers: OCTETS })
  t.equal(second.status, 409, 'one upload of a project at a time')
  cut.destroy()
  t.match(await ended(api, key, job.id), {
    status: 'failed',
    can_apply: false,
    error: { message: /upload ended before/ },
  })
  t.equal((await planned(api, key, '', '{"version":1}')).status, 'ready', 'the next one works')
})
