import { execFile } from 'node:child_process'
import { get } from 'node:http'
import { promisify } from 'node:util'
import t from 'tap'
import { execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import type { Picket } from '../../deploy/client/index.ts'
import { startApi } from '../support/api-server.ts'
import { unwrapData } from '../support/client.ts'

const ORIGIN = 'http://localhost:9'
const api = await startApi(t, { PUBLIC_URL: ORIGIN })

async function addPage(picket: Picket, slug: string, isPublished: boolean) {
  const { id } = await unwrapData(picket.createStatusPage({ body: { name: 'Acme', slug } }))
  await unwrapData(picket.updateStatusPage({ path: { id }, body: { is_published: isPublished } }))
  return { id, name: 'Acme', slug, is_published: isPublished, public_url: `${ORIGIN}/status/${slug}` }
}

t.test('GET /project 200 shows plan, limits with their use, embeds and status pages', async t => {
  const { key, projectId } = await api.tenant('pro')
  const picket = api.picket(key)
  await unwrapData(picket.createMonitor({ body: { name: 'one', type: 'http' } }))
  const project = await unwrapData(picket.readProject())
  t.match(project, {
    id: projectId,
    plan: 'pro',
    limits: {
      monitors: { limit: 500, used: 1 },
      status_pages: { limit: 10, used: 0 },
      data_sources: { limit: 20, used: 0 },
      alert_channels: { limit: 50, used: 0 },
      rules_per_monitor: 20,
      members: { limit: 20, used: 1 },
      custom_domain: true,
      min_interval_seconds: 30,
    },
    embeds: { links: { status_page: null, badge: null, widget: null } },
  })
  t.same(project.status_pages, [])
})

t.test('GET /project 200 lists the status pages and links the oldest one that is published', async t => {
  const picket = api.picket((await api.tenant('pro')).key)
  const draft = await addPage(picket, 'acme-draft', false)
  const pages = [draft, await addPage(picket, 'acme', true), await addPage(picket, 'acme-later', true)]
  const { limits, embeds, status_pages } = await unwrapData(picket.readProject())
  t.same(status_pages, pages)
  t.same(limits.status_pages, { limit: 10, used: 3 })
  const url = `${ORIGIN}/status/acme`
  t.same(embeds.links, { status_page: url, badge: `${url}/badge.svg`, widget: `${url}/widget.js` })
  const { badge_markdown, badge_html, widget_html } = embeds.snippets
  t.equal(badge_markdown, `[![Status](${url}/badge.svg)](${url})`)
  t.equal(badge_html, `<a href="${url}"><img src="${url}/badge.svg" alt="Status"></a>`)
  t.equal(widget_html, `<script src="${url}/widget.js" async></script>`)
  for (const link of Object.values(embeds.links)) t.equal(await visit(link!), 200, link!)
})

t.test('GET /project 200 leads to a page at its own domain once that is verified', async t => {
  const picket = api.picket((await api.tenant('pro')).key)
  const { id, public_url } = await addPage(picket, 'acme-own', true)
  const domain = 'status.acme.test'
  const change = (columns: string) => execute(api.db, `UPDATE status_pages SET ${columns} WHERE id = ?`, [id])
  await change(`custom_domain = '${domain}'`)
  t.match(await unwrapData(picket.readProject()), { status_pages: [{ public_url }] }, 'not verified')
  await change('custom_domain_verified_at = now()')
  const { embeds, status_pages } = await unwrapData(picket.readProject())
  const url = `https://${domain}`
  t.equal(status_pages[0]?.public_url, url)
  t.same(embeds.links, { status_page: url, badge: `${url}/badge.svg`, widget: `${url}/widget.js` })
  for (const link of Object.values(embeds.links)) t.equal(await visit(link!), 200, link!)
})

t.test('GET /project 200 says null for what the business plan does not limit', async t => {
  const { limits } = await unwrapData(api.picket((await api.tenant('business')).key).readProject())
  t.same(limits.monitors, { limit: null, used: 0 })
})

t.test('the curl snippet of GET /project makes a monitor when it is pasted into a shell', async t => {
  const { key } = await api.tenant()
  const { embeds } = await unwrapData(api.picket(key).readProject())
  const command = embeds.snippets.curl.replace(ORIGIN, api.origin)
  const env = { PATH: process.env.PATH ?? '', PICKET_API_KEY: key }
  const { stdout } = await promisify(execFile)('sh', ['-c', `${command} -s`], { env })
  t.match(JSON.parse(stdout), { data: { name: 'Example', url: 'https://example.com' } })
})

/** The status of what stands at a public address of this installation, or at a domain that leads to it. */
function visit(link: string): Promise<number | undefined> {
  const { host, pathname } = new URL(link)
  return new Promise((resolve, reject) => {
    get(`${api.origin}${pathname}`, { headers: { host } }, answer => {
      answer.resume().on('end', () => resolve(answer.statusCode))
    }).on('error', reject)
  })
}
