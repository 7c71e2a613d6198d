import type { OperationResponse } from '../../control-plane/dashboard/core/operations.ts'
import { type ApiAnswers, buildList } from './dashboard-answers.ts'
import { ago } from './dashboard-fixtures.ts'

type WindowRecord = OperationResponse<'readMaintenanceWindow'>['data']
type PageRecord = OperationResponse<'readStatusPage'>['data']

const MONITOR = '0190a0a0-0000-7000-8000-000000000001'

/** A window that recurs every Sunday. */
export const buildWindow = (changes: Partial<WindowRecord> = {}): WindowRecord => ({
  ...{ id: 'w1', title: 'Weekly backup', description: 'The shop is read-only.', monitor_ids: [MONITOR] },
  ...{ cron: '0 2 * * 0', duration_minutes: 90, time_zone: 'UTC', starts_at: null, ends_at: null },
  ...{ notify_subscribers: false, announce_minutes: 1_440, status: 'scheduled' as const },
  ...{ next_starts_at: ago(-9_000), created_at: ago(90_000), updated_at: ago(90_000) },
  ...changes,
})

const once = (changes: Partial<WindowRecord>): WindowRecord =>
  buildWindow({ cron: null, duration_minutes: null, time_zone: null, notify_subscribers: true, ...changes })

const buildPage = (changes: Partial<PageRecord> = {}): PageRecord => ({
  ...{ id: 'p1', name: 'Acme', slug: 'acme', template: 'modern' as const, brand_color: '#0b5cab' },
  ...{ logo_url: null, favicon_url: null, logo_problem: null, favicon_problem: null, custom_css: null },
  ...{ seo_title: null, seo_description: null, is_published: true, show_response_times: true },
  ...{ show_uptime_percentage: true, custom_domain: 'status.acme.example', custom_domain_verified_at: ago(900) },
  ...{ component_count: 2, public_url: 'https://status.acme.example', created_at: ago(9_000), updated_at: ago(9_000) },
  ...changes,
})

const subscriber = (part: object) => ({
  ...{ id: 's1', status_page_id: 'p1', type: 'email' as const, address: 'a***@example.com', component_ids: null },
  ...{ is_paused: false, consecutive_failures: 0, confirmed_at: ago(9_000), created_at: ago(9_000) },
  updated_at: ago(9_000),
  ...part,
})
const subscribers = buildList([
  subscriber({}),
  subscriber({ id: 's2', type: 'webhook', address: 'https://hooks.example.com', consecutive_failures: 3 }),
  subscriber({ id: 's3', address: 'b***@example.com', is_paused: true, consecutive_failures: 10 }),
])

/** What the pages about maintenance and about the reach of a status page read. */
export const REACH_ANSWERS: ApiAnswers = {
  listMaintenanceWindows: buildList([
    buildWindow(),
    once({
      ...{ id: 'w2', title: 'Database upgrade', status: 'active', next_starts_at: null },
      ...{ starts_at: ago(30), ends_at: ago(-90) },
    }),
    once({
      id: 'w3',
      title: 'Old move',
      status: 'ended',
      starts_at: ago(9_000),
      ends_at: ago(8_900),
      next_starts_at: null,
    }),
  ]),
  readMaintenanceWindow: { data: buildWindow() },
  readStatusPage: { data: buildPage() },
  listStatusPageSubscribers: { ...subscribers, meta: { ...subscribers.meta, email: 2, webhook: 1 } },
  listStatusPageComponents: buildList([]),
}
