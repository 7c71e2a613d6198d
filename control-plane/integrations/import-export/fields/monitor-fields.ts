import { REGIONS } from '../../../../shared/checks/check.ts'
import type { SecretCipher } from '../../../foundation/platform/crypto/encryption.ts'
import { type HeaderMap, maskHeaders } from '../../../foundation/web/masked-secrets/header-map.ts'
import { maskAuth } from '../../../monitoring/monitors/settings/credentials.ts'
import type { MonitorAuthConfig } from '../../../monitoring/monitors/settings/encryption.ts'
import { decryptFields, type MonitorFields } from '../../../monitoring/monitors/settings/fields.ts'
import { CREATE_DEFAULTS, MonitorCreate } from '../../../monitoring/monitors/settings/schema.ts'
import type { MonitorAuthType, StoredMonitor } from '../../../monitoring/monitors/types.ts'
import type { MonitorEntry } from '../file/project-file.ts'
import { pick, type RecordFields, toSnakeKeys } from './fields.ts'

/** What a monitor has that is not named. */
export const MONITOR_DEFAULTS: RecordFields = { ...CREATE_DEFAULTS, is_paused: false }

const { name, type, url, ...others } = MonitorCreate.properties
/** What people look for first comes first. */
const IN_ORDER = { name, type, url, ...others }

/** The part of an entry that a create takes. */
export const toMonitorBody = (entry: MonitorEntry) => pick(entry, MonitorCreate.properties) as MonitorCreate

/** A monitor in the names of the file. Regions are a set. */
export function toMonitorFields(fields: MonitorFields, isPaused: boolean): RecordFields {
  const regions = REGIONS.filter(region => fields.regions.includes(region))
  return { ...pick(toSnakeKeys({ ...fields, regions }), IN_ORDER), is_paused: isPaused }
}

export const toStoredMonitorFields = (monitor: StoredMonitor, secrets: SecretCipher): RecordFields =>
  toMonitorFields(decryptFields(monitor, secrets), monitor.isPaused)

/** Without secrets. */
export function maskMonitorFields(fields: RecordFields): RecordFields {
  const { headers, auth_type, auth_config } = fields
  return {
    ...fields,
    headers: headers && maskHeaders(headers as HeaderMap),
    auth_config: auth_config && maskAuth(auth_type as MonitorAuthType, auth_config as MonitorAuthConfig),
  }
}
