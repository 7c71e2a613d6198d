import t from 'tap'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { startApi } from '../support/api-server.ts'
import { startTarget } from '../support/target.ts'

const PER_MINUTE = 8
const api = await startApi(t, { TESTS_PER_MINUTE: String(PER_MINUTE) })
const target = await startTarget(t)
const SUMMARY = {
  page: { id: 'p', name: 'Acme' },
  status: { indicator: 'major', description: 'Partial outage' },
  components: [{ id: 'c1', name: 'API', status: 'major_outage' }],
  incidents: [
    {
      ...{ id: 'i1', name: 'The API fails', status: 'identified', impact: 'major', shortlink: 'https://stspg.io/x' },
      ...{ created_at: '2026-11-01T10:00:00Z', started_at: '2026-11-01T10:00:00Z', updated_at: '2026-11-01T10:05:00Z' },
      ...{ resolved_at: null, incident_updates: [], components: [{ id: 'c1', name: 'API' }] },
    },
  ],
}
const serve = (body: unknown) => target.behave({ kind: 'answer', body: JSON.stringify(body) })
const FEED = { status_url: target.url, feed_type: 'statuspage' }

/** Each test has its own project, and so its own rate limit. */
async function tester() {
  const { key } = await api.tenant()
  return (body: object) => api.call('POST', '/dependencies/test', { key, body })
}

t.test('POST /dependencies/test 200 returns what the feed reports, and stores nothing', async t => {
  serve(SUMMARY)
  const test = await tester()
  const { status, body } = await test(FEED)
  t.equal(status, 200)
  t.match(body.data, {
    ...{ feed_url: `${target.url}api/v2/summary.json`, error: null, status: 'down', open_incidents: 1 },
    ...{ components: ['API'], incidents: [{ title: 'The API fails', severity: 'major', status: 'identified' }] },
  })
  t.same(await query(api.db, 'SELECT id FROM dependencies UNION ALL SELECT id FROM vendor_feeds'), [])
  const json = { ...FEED, feed_type: 'json', feed_mapping: { incidents: 'data.items' } }
  serve({ data: { items: [{ id: 1, title: 'Slow', severity: 'minor', status: 'investigating' }] } })
  t.match((await test(json)).body.data, { error: null, incidents: [{ title: 'Slow', severity: 'minor' }] })
})

t.test('POST /dependencies/test 200 says why a feed cannot be read', async t => {
  const test = await tester()
  target.behave({ kind: 'answer', status: 404 })
  const { status, body } = await test(FEED)
  t.equal(status, 200)
  t.match(body.data, { error: 'the feed responded with status 404', status: null, incidents: [], open_incidents: 0 })
  target.behave({ kind: 'answer', body: '<html>' })
  t.match((await test(FEED)).body.data.error, /JSON/)
})

t.test('POST /dependencies/test 400 for what a create refuses, 404 for an unknown slug', async t => {
  const test = await tester()
  const refused = await test({ ...FEED, status_url: 'http://10.0.0.1/' })
  t.equal(refused.status, 400)
  t.match(refused.body.error.details, [{ path: 'status_url' }])
  t.equal((await test({ status_url: target.url })).status, 400, 'without a type')
  t.equal((await test({ slug: 'github', feed_url: target.url })).status, 400)
  t.equal((await test({ slug: 'no-such-vendor' })).status, 404)
})

t.test('POST /dependencies/test 403 with a read key, and 429 beyond the tests of a minute', async t => {
  serve(SUMMARY)
  const { key } = await api.tenant()
  const read = (await api.call('POST', '/api-keys', { key, body: { name: 'r', scope: 'read' } })).body.data.key
  t.equal((await api.call('POST', '/dependencies/test', { key: read, body: FEED })).status, 403)
  // more than a minute allows, also when a new one begins meanwhile
  const answers = []
  for (let i = 0; i <= 2 * PER_MINUTE; i++)
    answers.push(await api.call('POST', '/dependencies/test', { key, body: FEED }))
  t.same(
    answers.slice(0, PER_MINUTE).map(({ status }) => status),
    Array.from({ length: PER_MINUTE }, () => 200),
  )
  const limited = answers.find(({ status }) => status === 429)
  t.match(limited?.body.error.message, /at most 8 tests of feeds in a minute/)
})
