/** The defaults of a create (docs/design/monitors.md#fields). */
export const CREATE_DEFAULTS = {
  method: 'GET',
  interval_seconds: 60,
  timeout_ms: 30_000,
  regions: ['us-east'],
  keyword_type: 'contains',
  heartbeat_grace: 60,
  ssl_check: false,
  domain_check: false,
  screenshot_on_failure: true,
  screenshot_compare: false,
  screenshot_threshold: 0.05,
  retry_count: 2,
  witness: true,
  witness_with_credentials: false,
} as const
