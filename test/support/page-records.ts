import type { OperationResponse } from '../../control-plane/dashboard/core/operations.ts'

type PageRecord = OperationResponse<'readStatusPage'>['data']
type ComponentRecord = OperationResponse<'listStatusPageComponents'>['data'][number]
type GroupRecord = OperationResponse<'listStatusPageGroups'>['data'][number]

const CREATED = '2026-11-20T10:00:00.000Z'
const times = { created_at: CREATED, updated_at: CREATED }
const PAGE_ID = '01900000-0000-7000-8000-00000000000a'

/** A published status page as the API shows it. */
export const buildPage = (changes: Partial<PageRecord> = {}): PageRecord => ({
  ...{ id: PAGE_ID, name: 'Acme Cloud', slug: 'acme', template: 'modern', brand_color: '#0b5cab' },
  ...{ logo_url: null, favicon_url: 'https://www.acme.example/icon.svg', logo_problem: null },
  favicon_problem: 'cannot be fetched: the server answered 404',
  ...{ custom_css: 'h1 {\n  letter-spacing: -0.02em;\n}\n', seo_title: null, seo_description: null },
  ...{ is_published: true, show_response_times: true, show_uptime_percentage: true },
  ...{ custom_domain: null, custom_domain_verified_at: null, component_count: 3 },
  ...{ public_url: 'https://picket.example/status/acme', ...times },
  ...changes,
})

export const buildComponent = (changes: Partial<ComponentRecord> = {}): ComponentRecord => ({
  ...{ id: 'c1', status_page_id: PAGE_ID, name: 'Website', description: null, monitor_id: null, group_id: null },
  ...{ display_order: 0, status: 'operational', ...times },
  ...changes,
})

export const buildGroup = (changes: Partial<GroupRecord> = {}): GroupRecord => ({
  ...{ id: 'g1', status_page_id: PAGE_ID, name: 'Core services', description: null, display_order: 0 },
  ...{ is_collapsed: false, ...times },
  ...changes,
})
