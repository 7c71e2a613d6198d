import { type ClickhouseSource, select } from '../../../foundation/platform/clickhouse.ts'
import { type Db, query } from '../../../foundation/platform/postgres/client.ts'
import { MAX_WINDOW_MINUTES } from '../../../verdict/maintenance/schedule-validation.ts'
import { HAS_RESULTS_SQL, IS_UNREAD_SQL, LAST_READ_SQL } from '../../../verdict/reader/partitions/unread-store.ts'
import { OUTAGE_SQL } from '../../core/outage-sql.ts'
import { PAGE_COLUMNS } from '../../core/page-store.ts'
import type { StoredPage } from '../../core/records.ts'
import type { DailyMedians } from '../../core/types.ts'
import type { Site } from '../site.ts'
import type { PageIncident, PageMaintenance, PageNoticedMaintenance } from './page-data.ts'

/** All open incidents first, then the newest resolved ones. */
const MAX_INCIDENTS = 500
const MAX_UPDATES_PER_INCIDENT = 100
/** Of the updates and post-mortems of a page. Visitors cause documents that contain all of them. */
const MAX_TEXTS = 2_000
const MAX_TEXT_BYTES = 512 * 1024
/** Of all descriptions of maintenance: each period repeats that of its window. */
const MAX_DESCRIPTION_BYTES = 256 * 1024
/** Updates of an incident that are taken before the earlier ones of any other. */
const NEWEST_UPDATES = 5

/** Notices are kept much longer than pages show them. By their start they are found in the index; a period lasts at most a week. */
const IS_RECENT_NOTICE = `n.ends_at > :recent AND n.starts_at > CAST(:recent AS timestamptz) - interval '${MAX_WINDOW_MINUTES} minutes'`

/**
 * Changes when anything that a page shows changes, except by the passage of time (docs/design/status-pages.md#cache).
 */
const FINGERPRINT = `concat_ws('/', p.xmin,
  (SELECT md5(string_agg(concat_ws(',', m.id, m.status, m.is_paused, m.status_changed_at, m.deleted_at), ';' ORDER BY c.id))
   FROM status_page_components c JOIN monitors m ON m.id = c.monitor_id WHERE c.page_id = p.id),
  (SELECT concat_ws(',', count(*), sum(hashtext(concat(i.id, i.xmin)))) FROM incidents i
   WHERE i.project_id = p.project_id AND (i.resolved_at IS NULL OR i.resolved_at > :recent)),
  (SELECT md5(string_agg(concat_ws(',', mp.monitor_id, mp.starts_at, mp.ends_at, mp.starts_at <= :now, w.title, w.description),
                         ';' ORDER BY mp.monitor_id, mp.starts_at, mp.window_id))
   FROM status_page_components c JOIN maintenance_periods mp ON mp.monitor_id = c.monitor_id
     JOIN maintenance_windows w ON w.id = mp.window_id
   WHERE c.page_id = p.id AND mp.ends_at > :now AND mp.starts_at < :soon),
  (SELECT concat_ws(',', count(*), max(n.sent_at), sum(extract(epoch FROM n.starts_at) + extract(epoch FROM n.ends_at)))
   FROM maintenance_notices n JOIN maintenance_windows w ON w.id = n.window_id
   WHERE w.project_id = p.project_id AND ${IS_RECENT_NOTICE}))`

/** Since when no process reads the results of one of the page's monitors; null when all are read. */
const UNREAD_SINCE = `(
  SELECT min(${LAST_READ_SQL})
  FROM status_page_components c JOIN monitors m ON m.id = c.monitor_id JOIN partitions t ON t.id = m.partition
  WHERE c.page_id = p.id AND ${HAS_RESULTS_SQL} AND ${IS_UNREAD_SQL})`

/** `recent`: the oldest end of a shown resolved incident. `soon`: the latest start of shown maintenance. */
export type Horizon = { now: Date; recent: Date; soon: Date }

/** `unreadSince`: the results of a component have not been read since then, so the statuses are from that time */
export type PublicPage = { page: StoredPage; fingerprint: string; unreadSince: Date | null }

/** The published page of a site, and a fingerprint that is the same while its content is the same. */
export async function findPageBySite(db: Db, site: Site, horizon: Horizon): Promise<PublicPage | null> {
  const condition =
    'slug' in site ? 'p.slug = :slug' : 'p.custom_domain = :domain AND p.custom_domain_verified_at IS NOT NULL'
  const [row] = await query<StoredPage & { fingerprint: string; unreadSince: Date | null }>(
    db,
    `SELECT ${PAGE_COLUMNS}, ${FINGERPRINT} AS fingerprint, ${UNREAD_SINCE} AS "unreadSince"
     FROM status_pages p WHERE ${condition} AND p.is_published`,
    { ...site, ...horizon },
  )
  if (!row) return null
  const { fingerprint, unreadSince, ...page } = row
  return { page, fingerprint: `${fingerprint}/${unreadSince?.toISOString() ?? ''}`, unreadSince }
}

/** The texts of the incidents `i`, in the order in which a page takes them. `update_id` null: the post-mortem. Only their sizes are read. */
const TEXTS = `
  SELECT i.id AS incident_id, t.update_id, row_number() OVER taken AS place, sum(t.bytes) OVER taken AS bytes
  FROM i CROSS JOIN LATERAL (
    (SELECT id AS update_id, octet_length(message) AS bytes, row_number() OVER (ORDER BY id DESC) AS number
     FROM incident_updates WHERE incident_id = i.id AND NOT is_internal ORDER BY id DESC LIMIT ${MAX_UPDATES_PER_INCIDENT})
    UNION ALL
    SELECT NULL, octet_length(i.postmortem), 2 WHERE i.postmortem_published_at IS NOT NULL AND i.resolved_at IS NOT NULL
  ) t
  WHERE i.resolved_at IS NULL OR i.resolved_at > :recent
  WINDOW taken AS (
    ORDER BY CASE WHEN t.number = 1 THEN 1 WHEN t.number <= ${NEWEST_UPDATES} THEN 2 ELSE 3 END,
      i.resolved_at IS NULL DESC, i.id DESC, t.number, t.update_id NULLS FIRST
    ROWS UNBOUNDED PRECEDING)`

/**
 * Incidents since `from` that affect one of the monitors, and manual incidents without monitors. Open ones and those
 * that ended after `recent` have their public updates and their post-mortem, within the limits of a page: first the last update
 * of each, then the newest few of each, then the others, those of open and of new incidents first. Internal updates are never read.
 */
export function listPageIncidents(
  db: Db,
  projectId: string,
  monitorIds: string[],
  from: Date,
  recent: Date,
): Promise<PageIncident[]> {
  return query(
    db,
    `WITH i AS MATERIALIZED (
       SELECT * FROM incidents i
       WHERE i.project_id = :projectId AND (i.resolved_at IS NULL OR i.resolved_at > :from)
         AND (EXISTS (SELECT FROM incident_monitors
                      WHERE incident_id = i.id AND monitor_id = ANY (CAST(:monitorIds AS uuid[])))
           OR (i.source = 'manual' AND NOT EXISTS (SELECT FROM incident_monitors WHERE incident_id = i.id)))
       ORDER BY i.resolved_at IS NULL DESC, i.id DESC LIMIT ${MAX_INCIDENTS}
     ), texts AS (${TEXTS}
     ), shown AS MATERIALIZED (
       SELECT t.incident_id, bool_or(t.update_id IS NULL) AS has_postmortem,
         jsonb_agg(jsonb_build_object('id', u.id, 'status', u.status, 'message', u.message, 'at', u.created_at)
                   ORDER BY u.id DESC) FILTER (WHERE u.id IS NOT NULL) AS updates
       FROM texts t LEFT JOIN incident_updates u ON u.id = t.update_id
       WHERE t.place <= ${MAX_TEXTS} AND t.bytes <= ${MAX_TEXT_BYTES}
       GROUP BY t.incident_id
     )
     SELECT i.id, i.title, i.status, i.severity, i.source, i.started_at AS "startedAt", i.resolved_at AS "resolvedAt",
       ${OUTAGE_SQL} AS outage,
       ARRAY (SELECT monitor_id FROM incident_monitors WHERE incident_id = i.id) AS "monitorIds",
       coalesce(shown.updates, '[]') AS updates,
       CASE WHEN shown.has_postmortem THEN
         jsonb_build_object('text', i.postmortem, 'publishedAt', i.postmortem_published_at) END AS postmortem
     FROM i LEFT JOIN shown ON shown.incident_id = i.id
     ORDER BY i.resolved_at IS NULL DESC, i.id DESC`,
    { projectId, monitorIds, from, recent },
  )
}

/**
 * Maintenance that runs now or begins before `soon`, soonest first. A change of a running window ends the stored period and
 * begins another at the same moment; both are one, which began with the first. Periods that merely follow each other begin on
 * whole minutes (cron). Periods beyond the limit of a page have no description.
 */
export function listPageMaintenance(db: Db, monitorIds: string[], { now, soon }: Horizon): Promise<PageMaintenance[]> {
  return query(
    db,
    `WITH RECURSIVE parts AS (
       SELECT window_id, monitor_id, starts_at, ends_at, starts_at AS began_at FROM maintenance_periods
       WHERE monitor_id = ANY (CAST(:monitorIds AS uuid[])) AND ends_at > :now AND starts_at < :soon
       UNION ALL
       SELECT p.window_id, p.monitor_id, p.starts_at, p.ends_at, mp.starts_at
       FROM parts p JOIN maintenance_periods mp
         ON mp.monitor_id = p.monitor_id AND mp.ends_at = p.began_at AND mp.window_id = p.window_id
       WHERE date_trunc('minute', p.began_at) <> p.began_at AND mp.starts_at < mp.ends_at
     )
     SELECT w.id AS "windowId", w.title, min(p.began_at) AS "startsAt", p.ends_at AS "endsAt",
       CASE WHEN sum(octet_length(w.description)) OVER (ORDER BY min(p.began_at), w.id, p.ends_at)
         <= ${MAX_DESCRIPTION_BYTES} THEN w.description END AS description,
       array_agg(DISTINCT p.monitor_id) AS "monitorIds"
     FROM parts p JOIN maintenance_windows w ON w.id = p.window_id
     GROUP BY w.id, p.starts_at, p.ends_at ORDER BY min(p.began_at), w.id`,
    { monitorIds, now, soon },
  )
}

const MAX_NOTICED_PERIODS = 100

/** The newest periods with sent notices, without those that ended before `recent`. The newest ones have their description. */
export function listNoticedMaintenance(
  db: Db,
  projectId: string,
  monitorIds: string[],
  { recent }: Horizon,
): Promise<PageNoticedMaintenance[]> {
  return query(
    db,
    `SELECT "windowId", title, "startsAt", "endsAt", "monitorIds", "firstStartsAt", notices, CASE WHEN sum(octet_length(stored)) OVER (ORDER BY "startsAt" DESC, "windowId")
       <= ${MAX_DESCRIPTION_BYTES} THEN stored END AS description
     FROM (
       SELECT w.id AS "windowId", w.title, w.description AS stored, n.starts_at AS "startsAt", max(n.ends_at) AS "endsAt",
         ARRAY (SELECT monitor_id FROM maintenance_window_monitors
                WHERE window_id = w.id AND monitor_id = ANY (CAST(:monitorIds AS uuid[]))) AS "monitorIds",
         coalesce(min(n.first_starts_at), n.starts_at) AS "firstStartsAt",
         jsonb_agg(jsonb_build_object('stage', n.stage, 'at', n.sent_at, 'previous', CASE WHEN n.previous_starts_at IS NOT NULL
             THEN jsonb_build_object('startsAt', n.previous_starts_at, 'endsAt', n.previous_ends_at) END)
           ORDER BY n.sent_at, n.stage) AS notices
       FROM maintenance_notices n JOIN maintenance_windows w ON w.id = n.window_id
       WHERE w.project_id = :projectId AND ${IS_RECENT_NOTICE} AND n.sent_at IS NOT NULL
       GROUP BY w.id, n.starts_at
     ) noticed WHERE "monitorIds" <> '{}' ORDER BY "startsAt" DESC LIMIT ${MAX_NOTICED_PERIODS}`,
    { projectId, monitorIds, recent },
  )
}

/** Limits the length of the request URL. */
const MAX_IDS_PER_QUERY = 200

/**
 * The median response time of successful checks, in ms, by monitor and UTC day, from hourly figures; for days that are
 * not computed yet, from the results.
 */
export async function loadDailyMedians(
  clickhouse: ClickhouseSource,
  monitorIds: string[],
  from: Date,
): Promise<DailyMedians> {
  const parts = Array.from({ length: Math.ceil(monitorIds.length / MAX_IDS_PER_QUERY) }, (_, i) =>
    monitorIds.slice(i * MAX_IDS_PER_QUERY, (i + 1) * MAX_IDS_PER_QUERY),
  )
  const rows = await Promise.all(parts.map(ids => selectMedians(clickhouse, ids, from)))
  return new Map(rows.flat().map(({ id, days }) => [id, new Map(days)]))
}

function selectMedians(clickhouse: ClickhouseSource, ids: string[], from: Date) {
  return select<{ id: string; days: [string, number][] }>(
    clickhouse,
    `SELECT id, groupArray((toString(day), median)) AS days FROM (
       SELECT id, day, argMax(median, source) AS median FROM (
         SELECT monitor_id AS id, toDate(hour) AS day, 1 AS source,
           round(quantileExactWeighted(0.5)(p50, count), 1) AS median
         FROM latency_hourly FINAL
         WHERE region = '' AND monitor_id IN {ids:Array(UUID)} AND hour >= toDateTime({from:Int64})
         GROUP BY id, day
         UNION ALL
         SELECT monitor_id AS id, toDate(scheduled_at) AS day, 2 AS source,
           round(quantileExact(0.5)(total_us) / 1000, 1) AS median
         FROM results
         WHERE monitor_id IN {ids:Array(UUID)} AND status IN ('up', 'degraded')
           AND scheduled_at >= (SELECT max(at) FROM progress WHERE name = 'closed_until')
         GROUP BY id, day
       ) GROUP BY id, day
     ) GROUP BY id`,
    { ids, from: Math.floor(from.getTime() / 1_000) },
  )
}
