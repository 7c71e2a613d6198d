import { v7 as uuidv7 } from 'uuid'
import { type Db, execute } from '../../control-plane/foundation/platform/postgres/client.ts'
import { createComponent } from '../../control-plane/pages/admin/components/component-actions.ts'
import { insertTenant } from './tenant.ts'

/** Inserts a published page of a separate project. Returns functions to fill it. `now` is the time of its records. */
export async function insertPage(
  db: Db,
  now: Date,
  fields: { show_response_times?: boolean; show_uptime_percentage?: boolean } = {},
) {
  const { projectId } = await insertTenant(db)
  const [pageId, slug] = [uuidv7(), uuidv7()]
  const shown = { show_response_times: true, show_uptime_percentage: true, ...fields }
  await execute(
    db,
    `INSERT INTO status_pages (id, project_id, name, slug, template, brand_color, is_published, show_response_times,
       show_uptime_percentage, created_at, updated_at)
     VALUES (:pageId, :projectId, 'Acme', :slug, 'minimal', '#2563eb', true, :show_response_times,
       :show_uptime_percentage, now(), now())`,
    { pageId, projectId, slug, ...shown },
  )
  return {
    projectId,
    pageId,
    slug,
    async monitor(status: string | null, transitions: [Date, string | null][] = []) {
      const id = uuidv7()
      await execute(
        db,
        `INSERT INTO monitors (id, project_id, partition, name, type, method, interval_seconds, timeout_ms, regions,
           keyword_type, ssl_check, domain_check, screenshot_on_failure, screenshot_compare, screenshot_threshold,
           retry_count, status, created_at, updated_at)
         VALUES (:id, :projectId, 0, 'Shop', 'http', 'GET', 60, 30000, '{us-east}', 'contains', false, false, false,
           false, 0.05, 2, :status, now(), now())`,
        { id, projectId, status },
      )
      for (const [at, to] of transitions) {
        await execute(
          db,
          `INSERT INTO transitions (id, project_id, monitor_id, to_status, at, quorum, summary, explanation, created_at)
           VALUES (:id, :projectId, :monitorId, :to, :at, 'full', '', '{}', now())`,
          { id: uuidv7(), projectId, monitorId: id, to, at },
        )
      }
      return id
    },
    async component(name: string, monitorId: string | null = null, groupId: string | null = null) {
      const body = { name, monitor_id: monitorId, group_id: groupId }
      return (await createComponent(db, projectId, pageId, body, now)).id
    },
    async incident(fields: {
      title: string
      source?: string
      severity?: string
      resolvedAt?: Date
      monitors?: string[]
    }) {
      const id = uuidv7()
      const { title, source = 'manual', severity = 'minor', resolvedAt = null, monitors = [] } = fields
      await execute(
        db,
        `INSERT INTO incidents (id, project_id, title, severity, status, source, started_at, resolved_at, created_at,
           updated_at)
         VALUES (:id, :projectId, :title, :severity, :status, :source, :startedAt, :resolvedAt, now(), now())`,
        {
          id,
          projectId,
          title,
          severity,
          source,
          resolvedAt,
          status: resolvedAt ? 'resolved' : 'investigating',
          startedAt: new Date((resolvedAt ?? now).getTime() - 3_600_000),
        },
      )
      for (const monitorId of monitors) {
        await execute(db, 'INSERT INTO incident_monitors VALUES (?, ?)', [id, monitorId])
      }
      return id
    },
    async update(incidentId: string, message: string, isInternal = false) {
      await execute(
        db,
        `INSERT INTO incident_updates (id, incident_id, status, message, is_internal, created_at)
         VALUES (?, ?, 'investigating', ?, ?, now())`,
        [uuidv7(), incidentId, message, isInternal],
      )
      await execute(db, 'UPDATE incidents SET updated_at = now() WHERE id = ?', [incidentId])
    },
    async maintenance(monitorId: string, title: string, startsAt: Date, endsAt: Date) {
      const windowId = uuidv7()
      await execute(
        db,
        `INSERT INTO maintenance_windows (id, project_id, title, starts_at, ends_at, created_at, updated_at)
         VALUES (:windowId, :projectId, :title, :startsAt, :endsAt, now(), now())`,
        { windowId, projectId, title, startsAt, endsAt },
      )
      await execute(
        db,
        'INSERT INTO maintenance_periods VALUES (:projectId, :monitorId, :windowId, :startsAt, :endsAt)',
        {
          projectId,
          monitorId,
          windowId,
          startsAt,
          endsAt,
        },
      )
      return windowId
    },
  }
}
