import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { startApi } from '../support/api-server.ts'

const api = await startApi(t, { PUBLIC_URL: 'http://localhost:9' })

t.test('GET /project 200 shows plan, limits with their use, embeds and status pages', async t => {
  const { key, projectId } = await api.tenant('pro')
  await api.call('POST', '/monitors', { key, body: { name: 'one', type: 'http' } })
  const { status, body } = await api.call('GET', '/project', { key })
  t.equal(status, 200)
  t.match(body.data, {
    id: projectId,
    plan: 'pro',
    limits: {
      monitors: { limit: 500, used: 1 },
      status_pages: { limit: 10, used: 0 },
      data_sources: { limit: 20, used: 0 },
      members: { limit: 20, used: 1 },
      custom_domain: true,
      min_interval_seconds: 30,
    },
    embeds: { links: { status_page: null, badge: null, widget: null } },
    status_pages: [],
  })
})

t.test('GET /project 200 says null for what the business plan does not limit', async t => {
  const { key } = await api.tenant('business')
  t.match((await api.call('GET', '/project', { key })).body.data.limits.monitors, { limit: null, used: 0 })
})

t.test('the curl snippet of GET /project makes a monitor when it is pasted into a shell', async t => {
  const { key } = await api.tenant()
  const { curl } = (await api.call('GET', '/project', { key })).body.data.embeds.snippets
  const command = curl.replace('http://localhost:9', api.origin)
  const env = { PATH: process.env.PATH ?? '', PICKET_API_KEY: key }
  const { stdout } = await promisify(execFile)('sh', ['-c', `${command} -s`], { env })
  t.match(JSON.parse(stdout), { data: { name: 'Example', url: 'https://example.com' } })
})
