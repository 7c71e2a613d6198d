import { REGIONS } from '../../shared/check.ts'
import { maskAuth } from '../monitors/credentials.ts'
import { fieldsOf, type MonitorFields } from '../monitors/fields.ts'
import { DEFAULTS, MonitorCreate } from '../monitors/schema.ts'
import type { AuthConfig } from '../monitors/sealed.ts'
import type { AuthType, StoredMonitor } from '../monitors/types.ts'
import type { Secrets } from '../platform/secrets.ts'
import { type HeaderMap, maskHeaders } from '../web/header-map.ts'
import type { MonitorEntry } from './document.ts'
import { type Fields, pick, snakeKeys } from './fields.ts'

/** What a monitor has that is not named. */
export const MONITOR_DEFAULTS: Fields = { ...DEFAULTS, is_paused: false }

const { name, type, url, ...others } = MonitorCreate.properties
/** What people look for first comes first. */
const IN_ORDER = { name, type, url, ...others }

/** The part of an entry that a create takes. */
export const bodyOf = (entry: MonitorEntry) => pick(entry, MonitorCreate.properties) as MonitorCreate

/** A monitor in the names of the file. Regions are a set. */
export function monitorFields(fields: MonitorFields, isPaused: boolean): Fields {
  const regions = REGIONS.filter(region => fields.regions.includes(region))
  return { ...pick(snakeKeys({ ...fields, regions }), IN_ORDER), is_paused: isPaused }
}

export const storedMonitorFields = (monitor: StoredMonitor, secrets: Secrets): Fields =>
  monitorFields(fieldsOf(monitor, secrets), monitor.isPaused)

/** Without secrets. */
export function showMonitor(fields: Fields): Fields {
  const { headers, auth_type, auth_config } = fields
  return {
    ...fields,
    headers: headers && maskHeaders(headers as HeaderMap),
    auth_config: auth_config && maskAuth(auth_type as AuthType, auth_config as AuthConfig),
  }
}
