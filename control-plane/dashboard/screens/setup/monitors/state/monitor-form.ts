import type { MonitorType, Region } from '../../../../../../shared/checks/check.ts'
import { MASK } from '../../../../../../shared/secret-names.ts'
import { CREATE_DEFAULTS } from '../../../../../monitoring/monitors/settings/defaults.ts'
import type { MonitorAuthType } from '../../../../../monitoring/monitors/types.ts'
import type { OperationResponse } from '../../../../core/operations.ts'
import { type HeaderRow, toPairs } from '../../../../parts/forms/pairs-field.tsx'
import { formatTags } from '../../../../parts/monitors/tag-list.ts'

export type MonitorRecord = OperationResponse<'readMonitor'>['data']
export type FormAssertion = NonNullable<MonitorRecord['assertions']>[number]

/** The parts of all kinds of credentials. Each kind uses some of them. */
export type FormCredentials = { username: string; password: string; token: string; name: string; value: string }

/**
 * The settings of a monitor as they are in the form, under the names of the API. Numbers are texts, because a number that
 * is half typed is a text.
 */
export type MonitorForm = {
  type: MonitorType
  url: string
  /** null: the name that is proposed from the address */
  name: string | null
  /** null: the regions that are proposed */
  regions: Region[] | null
  interval_seconds: string
  keyword: string
  keyword_type: MonitorRecord['keyword_type']
  assertions: FormAssertion[]
  method: MonitorRecord['method']
  headers: HeaderRow[]
  body: string
  auth_type: MonitorAuthType | ''
  auth_config: FormCredentials
  timeout_ms: string
  retry_count: string
  ssl_check: boolean
  domain_check: boolean
  screenshot_on_failure: boolean
  screenshot_compare: boolean
  screenshot_threshold: string
  witness: boolean
  witness_with_credentials: boolean
  /** separated by commas */
  tags: string
  heartbeat_interval: string
  heartbeat_grace: string
}

const NO_CREDENTIALS: FormCredentials = { username: '', password: '', token: '', name: '', value: '' }
const DAY_SECONDS = 86_400

/** The form of a new monitor. */
export const EMPTY_FORM: MonitorForm = {
  ...{ type: 'http', url: '', name: null, regions: null, keyword: '', assertions: [], headers: [], body: '' },
  ...{ auth_type: '', auth_config: NO_CREDENTIALS, tags: '', heartbeat_interval: String(DAY_SECONDS) },
  interval_seconds: String(CREATE_DEFAULTS.interval_seconds),
  keyword_type: CREATE_DEFAULTS.keyword_type,
  method: CREATE_DEFAULTS.method,
  timeout_ms: String(CREATE_DEFAULTS.timeout_ms),
  retry_count: String(CREATE_DEFAULTS.retry_count),
  ssl_check: CREATE_DEFAULTS.ssl_check,
  domain_check: CREATE_DEFAULTS.domain_check,
  screenshot_on_failure: CREATE_DEFAULTS.screenshot_on_failure,
  screenshot_compare: CREATE_DEFAULTS.screenshot_compare,
  screenshot_threshold: String(CREATE_DEFAULTS.screenshot_threshold),
  witness: CREATE_DEFAULTS.witness,
  witness_with_credentials: CREATE_DEFAULTS.witness_with_credentials,
  heartbeat_grace: String(CREATE_DEFAULTS.heartbeat_grace),
}

/** The form of a stored monitor. Secrets are masks, which mean the stored values when they are sent back. */
export function toMonitorForm(monitor: MonitorRecord): MonitorForm {
  const copied = Object.fromEntries(
    (['type', 'name', 'regions', 'keyword_type', 'method', 'ssl_check', 'domain_check'] as const).map(key => [
      key,
      monitor[key],
    ]),
  ) as Pick<MonitorForm, 'type' | 'name' | 'regions' | 'keyword_type' | 'method' | 'ssl_check' | 'domain_check'>
  return {
    ...copied,
    url: monitor.url ?? '',
    interval_seconds: String(monitor.interval_seconds),
    keyword: monitor.keyword ?? '',
    assertions: monitor.assertions ?? [],
    headers: toPairs(monitor.headers),
    body: monitor.body ?? '',
    auth_type: monitor.auth_type ?? '',
    auth_config: { ...NO_CREDENTIALS, ...toTexts(monitor.auth_config) },
    timeout_ms: String(monitor.timeout_ms),
    retry_count: String(monitor.retry_count),
    screenshot_on_failure: monitor.screenshot_on_failure,
    screenshot_compare: monitor.screenshot_compare,
    screenshot_threshold: String(monitor.screenshot_threshold),
    witness: monitor.witness,
    witness_with_credentials: monitor.witness_with_credentials,
    tags: formatTags(monitor.tags ?? []),
    heartbeat_interval: monitor.heartbeat_interval === null ? '' : String(monitor.heartbeat_interval),
    heartbeat_grace: monitor.heartbeat_grace === null ? '' : String(monitor.heartbeat_grace),
  }
}

const toTexts = (config: Record<string, unknown> | null): Partial<FormCredentials> =>
  Object.fromEntries(Object.entries(config ?? {}).map(([key, value]) => [key, String(value)]))

/** The form of a copy. Secrets cannot be copied, because they cannot be read: their fields are empty. */
export function toCopiedForm(monitor: MonitorRecord): MonitorForm {
  const form = toMonitorForm(monitor)
  const withoutMask = (text: string) => (text === MASK ? '' : text)
  return {
    ...form,
    name: `${monitor.name} (copy)`,
    headers: form.headers.map(({ name, value }) => ({ name, value: withoutMask(value) })),
    auth_config: Object.fromEntries(
      Object.entries(form.auth_config).map(([key, value]) => [key, withoutMask(value)]),
    ) as FormCredentials,
  }
}

/** Whether a copy needs secrets that have to be typed again. */
export const hasMaskedSecrets = ({ headers, auth_config: auth }: MonitorRecord): boolean =>
  [...Object.values(headers ?? {}), ...Object.values(auth ?? {})].includes(MASK)

/** Types that send an HTTP request. */
export const sendsRequests = (type: MonitorType) => type === 'http' || type === 'keyword'
