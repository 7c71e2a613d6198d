import t from 'tap'
import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { monitorRoutes } from '../../control-plane/monitoring/monitors/routes.ts'
import { componentRoutes } from '../../control-plane/pages/admin/components/component-routes.ts'
import { statusPageRoutes } from '../../control-plane/pages/admin/page-routes.ts'
import { incidentRoutes } from '../../control-plane/verdict/incidents/api/routes.ts'
import { type Call, createResourceApi } from '../support/resource-api.ts'
import { NO_HISTORY } from '../support/unwatched.ts'

const api = await createResourceApi(t, (app, handles) => {
  statusPageRoutes(app, handles)
  componentRoutes(app, handles)
  incidentRoutes(app, handles)
  monitorRoutes(app, { ...handles, readMonitoringState: NO_HISTORY })
})

/** The `status_page_url` in the event of a new incident. */
async function readPageUrl(call: Call, monitor_ids: string[]): Promise<string | null> {
  const { body } = await call('POST /incidents', { title: 'Shop is slow', monitor_ids })
  const sql = 'SELECT data FROM events WHERE subject = ?'
  const [event] = await query<{ data: { status_page_url: string | null } }>(api.db, sql, [`incident:${body.data.id}`])
  return event!.data.status_page_url
}

async function addPage(call: Call, slug: string, isPublished: boolean, monitor_id?: string): Promise<string> {
  const { id } = (await call('POST /status-pages', { name: 'Acme', slug })).body.data
  await call(`PUT /status-pages/${id}`, { is_published: isPublished })
  if (monitor_id) await call(`POST /status-pages/${id}/components`, { name: 'Shop', monitor_id })
  return id
}

t.test('incident.* contains the page with one of its monitors, else the first published page, else null', async t => {
  const { call } = await api.account()
  const monitor = (await call('POST /monitors', { name: 'Shop', type: 'http' })).body.data.id
  await addPage(call, 'draft', false, monitor)
  t.equal(await readPageUrl(call, [monitor]), null)
  await addPage(call, 'first', true)
  t.equal(await readPageUrl(call, [monitor]), 'http://picket.test/status/first')
  const shows = await addPage(call, 'shows-it', true, monitor)
  await addPage(call, 'shows-it-too', true, monitor)
  t.equal(await readPageUrl(call, [monitor]), 'http://picket.test/status/shows-it')
  t.equal(await readPageUrl(call, []), 'http://picket.test/status/first')
  await api.db.raw(`UPDATE status_pages SET custom_domain = 'status.acme.com' WHERE id = ?`, [shows])
  t.equal(await readPageUrl(call, [monitor]), 'http://picket.test/status/shows-it', 'not before it is verified')
  await api.db.raw('UPDATE status_pages SET custom_domain_verified_at = now() WHERE id = ?', [shows])
  t.equal(await readPageUrl(call, [monitor]), 'https://status.acme.com')

  const other = await api.account()
  t.equal(await readPageUrl(other.call, []), null, 'never another project’s')
})
