import type { OperationResponse } from '../../control-plane/dashboard/core/operations.ts'
import { buildCheck } from './dashboard-answers.ts'
import { ago } from './dashboard-fixtures.ts'

type BulkResult = OperationResponse<'changeMonitors'>['data']
type Screenshot = OperationResponse<'listMonitorScreenshots'>['data'][number]
type Certificate = NonNullable<ReturnType<typeof buildCheck>['certificate']>

/** A picture of a page, drawn here because a test has no browser on the target. */
const draw = (content: string) =>
  `data:image/svg+xml,${encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" width="1280" height="800" fill="#d7dbe0"><path d="M0 0h1280v800H0z" fill="#fff"/><path d="M0 0h1280v90H0zM80 170h720v60H80z"/>${content}</svg>`,
  )}`
const PAGE = draw('<path d="M80 290h520v34H80zM80 360h1120v34H80zM80 430h1120v34H80z"/>')
const FAILING_PAGE = draw('<path d="M80 290h1120v400H80z" fill="#d55e00"/>')

const CERTIFICATE: Certificate = {
  ...{ subject: 'CN=shop.example', issuer: 'C=US, O=Example Trust Services, CN=Example TLS RSA CA 2026' },
  ...{ valid_from: ago(60 * 24 * 20), valid_to: ago(-60 * 24 * 70), names: ['shop.example', 'www.shop.example'] },
  fingerprint: '7f83b1657ff1fc53b92dc18148a1d65dfc2d4b1fa3d677284addd200126d9069',
}

/** A failed check with everything that a web page can give. */
export const FAILED_CHECK = buildCheck({
  ...{ id: 'k2', status: 'down', status_code: 503, trigger: 'second_opinion', attempt: 2 },
  error: { source: 'target', code: 'assertion_failed', message: 'the status code is 503' },
  failed_assertions: [
    { type: 'status_code', operator: 'equals', value: '200', actual: '503' },
    { type: 'header', operator: 'contains', value: 'Cache-Control: no-store', actual: 'max-age=31536000, immutable' },
  ],
  ...{ screenshot_url: FAILING_PAGE, certificate: CERTIFICATE },
  evidence: {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Set-Cookie': '********',
      'Content-Security-Policy': "default-src 'self'; img-src 'self' https://images.shop.example; script-src 'self'",
    },
    body: '<!doctype html>\n<title>503 Service Unavailable</title>\n<h1>No server is available to handle this request.</h1>',
    chain: [CERTIFICATE],
  },
})

/** A check of a name in DNS. */
export const DNS_CHECK = buildCheck({
  ...{ id: 'k2', status_code: null, resolved_ip: null },
  dns: {
    ...{ rcode: 'NOERROR', server: '192.0.2.53' },
    records: [
      { type: 'A', name: 'shop.example', ttl_seconds: 300, value: '192.0.2.1' },
      {
        type: 'TXT',
        name: 'shop.example',
        ttl_seconds: 3_600,
        value: `"v=DKIM1; k=rsa; p=${'MIIBIjANBgkqhki'.repeat(14)}"`,
      },
    ],
  },
})

const buildScreenshot = (changes: Partial<Screenshot>): Screenshot => ({
  ...{ id: 'p1', monitor_id: FAILED_CHECK.monitor_id, region: 'us-east', taken_in: 'us-east', kind: 'baseline' },
  ...{ scheduled_at: ago(900), attempt: 1, difference: null, url: PAGE },
  ...{ created_at: ago(900), updated_at: ago(900) },
  ...changes,
})

/** A comparison by the failed check, which a person can accept, and its baseline. */
export const SCREENSHOTS: Screenshot[] = [
  buildScreenshot({
    ...{ id: 'p2', kind: 'comparison', scheduled_at: FAILED_CHECK.scheduled_at, attempt: FAILED_CHECK.attempt },
    ...{ difference: 0.31, url: FAILING_PAGE },
  }),
  buildScreenshot({}),
]

/** The names are the ids, as on the boards of tests. */
const NAMES = ['Checkout', 'Search', 'Backup', 'Website', 'Old shop']

const buildStatuses = (name: string) =>
  Array.from({ length: 48 }, (_, i) => (name === 'Checkout' && i > 45 ? ('down' as const) : ('up' as const)))

/** The last 24 hours of each monitor. */
export const STRIPS: OperationResponse<'listAnalyticsStrips'> = {
  data: NAMES.map((name, i) => ({
    ...{ monitor_id: name, p95_ms: 240 + i * 130, uptime_24h: name === 'Checkout' ? 99.2 : 100 },
    cells: { status: buildStatuses(name), failing_share: [] },
    days: { status: [], down_seconds: [] },
  })),
  meta: { cells_from: ago(24 * 60), days_from: ago(90 * 24 * 60), to: ago(0), latency_available: true },
}

type BulkItem = BulkResult['items'][number]
const INTERVAL = [{ field: 'interval_seconds', from: 60, to: 300 }]
const buildItem = (name: string, item: Partial<BulkItem>): BulkItem => ({
  ...{ monitor_id: name, name, result: 'unchanged', changes: [], error: null },
  ...item,
})
const REFUSAL: Partial<BulkItem> = {
  result: 'refused',
  error: {
    code: 'conflict',
    message: 'only name and tags can be changed for a monitor of a data source; change the data source instead',
  },
}
const NOTHING = { dry_run: true, changed: 0, unchanged: 0, refused: 0, undo: null }

/** Another interval, which one monitor has already and one cannot have. */
export const DIFFERENCE: BulkResult = {
  ...{ ...NOTHING, changed: 3, unchanged: 1, refused: 1 },
  items: [
    buildItem('Checkout', { result: 'changed', changes: INTERVAL }),
    buildItem('Search', { result: 'changed', changes: INTERVAL }),
    buildItem('Backup', REFUSAL),
    buildItem('Website', {}),
    buildItem('Old shop', { result: 'changed', changes: INTERVAL }),
  ],
}

/** Nothing would change. */
export const NO_DIFFERENCE: BulkResult = {
  ...{ ...NOTHING, unchanged: NAMES.length },
  items: NAMES.map(name => buildItem(name, {})),
}

/** All monitors would be deleted. */
export const DELETION: BulkResult = {
  ...{ ...NOTHING, changed: NAMES.length },
  items: NAMES.map(name =>
    buildItem(name, { result: 'changed', changes: [{ field: 'deleted', from: false, to: true }] }),
  ),
}
