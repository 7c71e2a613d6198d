/** A published limit: a bound in the OpenAPI document, or its test: the file, and a part of the title. */
export type Limit = { name: string; value: string } & (
  | { operation: string; field: string; bounds: Record<string, number> }
  | { test: string; title: string }
)

const ofMonitor = (field: string, bounds: Record<string, number>) => ({ operation: 'POST /monitors', field, bounds })

export const LIMITS: Limit[] = [
  {
    name: 'Bootstrap rate',
    value: '3 an IP address an hour',
    test: 'test/api/bootstrap.test.ts',
    title: '429 to the fourth account from an address in an hour',
  },
  {
    name: 'Bulk monitor creation',
    value: 'at most 50 a request',
    ...{ operation: 'POST /monitors/bulk', field: 'monitors', bounds: { maxItems: 50 } },
  },
  {
    name: 'Claim link expiry',
    value: '72 hours',
    test: 'test/api/sign-in.test.ts',
    title: 'A claim link works for 72 hours',
  },
  { name: 'Monitor interval', value: '30-3600 s', ...ofMonitor('interval_seconds', { minimum: 30, maximum: 3_600 }) },
  { name: 'Monitor timeout', value: '1000-60000 ms', ...ofMonitor('timeout_ms', { minimum: 1_000, maximum: 60_000 }) },
  {
    name: 'Data source timeout',
    value: '1000-60000 ms',
    ...{ operation: 'POST /data-sources', field: 'timeout_ms', bounds: { minimum: 1_000, maximum: 60_000 } },
  },
  { name: 'Monitor retry_count', value: '0-5', ...ofMonitor('retry_count', { minimum: 0, maximum: 5 }) },
  { name: 'Monitor name', value: '1-100 characters', ...ofMonitor('name', { minLength: 1, maxLength: 100 }) },
  { name: 'Monitor tag', value: 'at most 50 characters', ...ofMonitor('tags[]', { maxLength: 50 }) },
  {
    name: 'Incident title',
    value: '1-200 characters',
    ...{ operation: 'POST /incidents', field: 'title', bounds: { minLength: 1, maxLength: 200 } },
  },
  {
    name: 'Status page name',
    value: '1-100 characters',
    ...{ operation: 'POST /status-pages', field: 'name', bounds: { minLength: 1, maxLength: 100 } },
  },
  {
    name: 'Status page slug',
    value: '1-50 characters',
    ...{ operation: 'POST /status-pages', field: 'slug', bounds: { minLength: 1, maxLength: 50 } },
  },
  {
    name: 'Data source fetch interval',
    value: 'at least 30 s',
    ...{ operation: 'POST /data-sources', field: 'fetch_interval_s', bounds: { minimum: 30 } },
  },
  {
    name: 'Webhook request timeout',
    value: '10 s',
    test: 'test/faults/delivery-faults.test.ts',
    title: 'is aborted after 10 seconds',
  },
  {
    name: 'Webhook attempts',
    value: '3',
    test: 'test/unit/alerting/deliveries/retry-policy.test.ts',
    title: 'a third 500 fails',
  },
  {
    name: 'Auto-pause',
    value: '50 failed deliveries in a row',
    test: 'test/store/deliveries.test.ts',
    title: '50 failed deliveries in a row pause a channel',
  },
]
