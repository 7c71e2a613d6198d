import t from 'tap'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { renderPage } from '../../control-plane/pages/templates/document/render.ts'
import { shareApi } from '../support/api-server.ts'

const api = await shareApi()
const { key } = await api.tenant()
const viewer = (await api.call('POST', '/api-keys', { key, body: { name: 'viewer', scope: 'read' } })).body.data.key
const call = (method: string, path: string, body?: object) => api.call(method, path, { key, body })

let slugs = 0
async function addPage(update: object = {}) {
  const slug = `preview-${++slugs}`
  const { id } = (await call('POST', '/status-pages', { name: 'Acme', slug })).body.data
  await call('PUT', `/status-pages/${id}`, update)
  await call('POST', `/status-pages/${id}/components`, { name: 'Mail', status: 'degraded' })
  const preview = (body: object, by = key) => api.call('POST', `/status-pages/${id}/preview`, { key: by, body })
  return { id, slug, preview }
}
const stored = () =>
  query(
    api.db,
    'SELECT (SELECT count(*) FROM audit_log), (SELECT md5(string_agg(p::text, p.id::text)) FROM status_pages p)',
  )

t.test(
  'POST /status-pages/{id}/preview 200 shows unsaved settings of an unpublished page, and stores nothing',
  async t => {
    const { id, preview } = await addPage({ show_response_times: false })
    const before = await stored()
    const body = { name: 'Acme Cloud', template: 'terminal', brand_color: '#00ff7f', custom_css: '.name{color:red}' }
    const answer = await preview(body, viewer)
    t.equal(answer.status, 200, 'a key that reads is enough')
    const { view, safe_css, problems } = answer.body.data
    t.match(view, { id, name: 'Acme Cloud', template: 'terminal', brandColor: '#00ff7f', showResponseTimes: false })
    t.match(view.sections, [{ kind: 'component', component: { name: 'Mail', status: 'degraded' } }])
    t.equal(safe_css, '.page .name{color:red}')
    t.equal(view.customCss, safe_css)
    t.same(problems, [])
    t.same(await stored(), before)
    t.match((await preview({})).body.data, {
      view: { name: 'Acme', template: 'minimal' },
      safe_css: null,
      problems: [],
    })
  },
)

t.test('The view of a preview renders to the bytes of the published page', async t => {
  const settings = { is_published: true, template: 'clean', custom_css: 'h2{letter-spacing:1px}', seo_title: 'Up?' }
  const { slug, preview } = await addPage(settings)
  const { view } = (await preview({})).body.data
  const published = await (await fetch(`${api.origin}/status/${slug}`)).text()
  const withoutMinute = (html: string) => html.replace(/<time dateTime="[^"]*">[^<]*<\/time>/gi, '')
  t.equal(withoutMinute(renderPage(view).html), withoutMinute(published))
})

t.test('Every refused line of the custom CSS is named with its line, and the page is shown without CSS', async t => {
  const { preview } = await addPage()
  const css = '.a{color:red}\n@import "x";\n.b{background:url(x);\n  position:fixed}\n.c{color:blue'
  const { status, body } = await preview({ custom_css: css })
  t.equal(status, 200)
  t.equal(body.data.safe_css, null)
  t.equal(body.data.view.customCss, null)
  t.match(body.data.problems, [
    { path: 'custom_css', line: 2, column: 1, message: /^must not use @import/ },
    { line: 3, message: /url\(\) is not allowed/ },
    { line: 4, message: /position: fixed/ },
  ])
  const many = await preview({ custom_css: '@import "x";\n'.repeat(50) })
  t.equal(many.body.data.problems.length, 20, 'at most 20 lines')
})

t.test('POST /status-pages/{id}/preview 400, 401, 403 and 404 as an update', async t => {
  const { id, preview } = await addPage()
  t.match((await preview({ brand_color: 'red' })).body.error.details, [{ path: 'brand_color' }])
  t.match((await preview({ logo_url: 'http://example.com/logo.png' })).body.error.details, [{ path: 'logo_url' }])
  t.equal((await preview({ slug: 'other' })).status, 400)
  const other = await api.tenant()
  t.equal((await preview({}, other.key)).status, 404, 'a page of another organization')
  t.equal((await call('POST', '/status-pages/none/preview', {})).status, 404)
  t.equal((await api.call('POST', `/status-pages/${id}/preview`, { key: null, body: {} })).status, 401)
})
