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

t.test('GET /project 200 lists the status pages and links the oldest one that is published', async t => {
  const { key } = await api.tenant('pro')
  const page = async (slug: string, isPublished: boolean) => {
    const { body } = await api.call('POST', '/status-pages', { key, body: { name: 'Acme', slug } })
    await api.call('PUT', `/status-pages/${body.data.id}`, { key, body: { is_published: isPublished } })
    const public_url = `http://localhost:9/status/${slug}`
    return { id: body.data.id, name: 'Acme', slug, is_published: isPublished, public_url }
  }
  const pages = [await page('acme-draft', false), await page('acme', true), await page('acme-later', true)]
  const { limits, embeds, status_pages } = (await api.call('GET', '/project', { key })).body.data
  t.same(status_pages, pages)
  t.same(limits.status_pages, { limit: 10, used: 3 })
  const url = 'http://localhost:9/status/acme'
  t.same(embeds.links, { status_page: url, badge: `${url}/badge.svg`, widget: `${url}/widget.js` })
  const { badge_markdown, badge_html, widget_html } = embeds.snippets
  t.equal(badge_markdown, `[![Status](${url}/badge.svg)](${url})`)
  t.equal(badge_html, `<a href="${url}"><img src="${url}/badge.svg" alt="Status"></a>`)
  t.equal(widget_html, `<script src="${url}/widget.js" async></script>`)
  for (const link of Object.values<string>(embeds.links)) {
    const answer = await fetch(link.replace('http://localhost:9', api.origin))
    t.equal(answer.status, 200, link)
    await answer.arrayBuffer()
  }
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
