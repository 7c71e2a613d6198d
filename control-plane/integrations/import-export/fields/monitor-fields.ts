import { REGIONS } from '../../../../shared/checks/check.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { type HeaderMap, maskHeaders } from '../../../foundation/web/masked-secrets/header-map.ts'
import { maskAuth } from '../../../monitoring/monitors/settings/credentials.ts'
import { CREATE_DEFAULTS } from '../../../monitoring/monitors/settings/defaults.ts'
import type { MonitorAuthConfig } from '../../../monitoring/monitors/settings/encryption.ts'
import { decryptFields, type MonitorFields } from '../../../monitoring/monitors/settings/fields.ts'
import { MonitorCreate } from '../../../monitoring/monitors/settings/schema.ts'
import type { MonitorAuthType, StoredMonitor } from '../../../monitoring/monitors/types.ts'
import type { MonitorEntry } from '../file/project-file.ts'
import { pick, type RecordFields, toSnakeKeys } from './fields.ts'

/** Defaults of a monitor. */
export const MONITOR_DEFAULTS: RecordFields = { ...CREATE_DEFAULTS, is_paused: false }

const { name, type, url, ...others } = MonitorCreate.properties
/** The most important fields come first. */
const IN_ORDER = { name, type, url, ...others }

/** Returns the body of a create from an entry. */
export const toMonitorBody = (entry: MonitorEntry) => pick(entry, MonitorCreate.properties) as MonitorCreate

/** Returns a monitor with the names of the file. Regions are sorted, because they are a set. */
export function toMonitorFields(fields: MonitorFields, isPaused: boolean): RecordFields {
  const regions = REGIONS.filter(region => fields.regions.includes(region))
  return { ...pick(toSnakeKeys({ ...fields, regions }), IN_ORDER), is_paused: isPaused }
}

export const toStoredMonitorFields = (monitor: StoredMonitor, secrets: SecretCipher): RecordFields =>
  toMonitorFields(decryptFields(monitor, secrets), monitor.isPaused)

/** Masks secrets. */
export function maskMonitorFields(fields: RecordFields): RecordFields {
  const { headers, auth_type, auth_config } = fields
  return {
    ...fields,
    headers: headers && maskHeaders(headers as HeaderMap),
    auth_config: auth_config && maskAuth(auth_type as MonitorAuthType, auth_config as MonitorAuthConfig),
  }
}
