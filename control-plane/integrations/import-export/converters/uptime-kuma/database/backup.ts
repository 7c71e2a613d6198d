import type { SqlJsStatic, SqlValue } from 'sql.js'
import { groupBy } from '../../../../../../shared/group-by.ts'
import type { ForeignRecord } from '../../foreign-file.ts'
import { fileError, type ReadTable, type Row, readTables } from './tables.ts'

type Kind = 'value' | 'boolean' | 'json'

/** The columns of `monitor` with the properties of a backup. A column that an older version does not have is left out. */
const MONITOR_COLUMNS: [column: string, property: string, kind?: Kind][] = [
  ['id', 'id'],
  ['name', 'name'],
  ['type', 'type'],
  ['active', 'active', 'boolean'],
  ['parent', 'parent'],
  ['description', 'description'],
  ['url', 'url'],
  ['method', 'method'],
  ['headers', 'headers'],
  ['body', 'body'],
  ['http_body_encoding', 'httpBodyEncoding'],
  ['hostname', 'hostname'],
  ['port', 'port'],
  ['interval', 'interval'],
  ['timeout', 'timeout'],
  ['maxretries', 'maxretries'],
  ['retry_interval', 'retryInterval'],
  ['retry_only_on_status_code_failure', 'retryOnlyOnStatusCodeFailure', 'boolean'],
  ['resend_interval', 'resendInterval'],
  ['keyword', 'keyword'],
  ['invert_keyword', 'invertKeyword', 'boolean'],
  ['json_path', 'jsonPath'],
  ['json_path_operator', 'jsonPathOperator'],
  ['expected_value', 'expectedValue'],
  ['accepted_statuscodes_json', 'accepted_statuscodes', 'json'],
  ['maxredirects', 'maxredirects'],
  ['upside_down', 'upsideDown', 'boolean'],
  ['ignore_tls', 'ignoreTls', 'boolean'],
  ['expiry_notification', 'expiryNotification', 'boolean'],
  ['domain_expiry_notification', 'domainExpiryNotification', 'boolean'],
  ['auth_method', 'authMethod'],
  ['basic_auth_user', 'basic_auth_user'],
  ['basic_auth_pass', 'basic_auth_pass'],
  ['bearer_token', 'bearer_token'],
  ['tls_cert', 'tlsCert'],
  ['tls_ca', 'tlsCa'],
  ['proxy_id', 'proxyId'],
  ['dns_resolve_type', 'dns_resolve_type'],
  ['dns_resolve_server', 'dns_resolve_server'],
  ['packet_size', 'packetSize'],
  ['ping_count', 'ping_count'],
  ['ping_per_request_timeout', 'ping_per_request_timeout'],
  ['ip_family', 'ipFamily'],
  ['cache_bust', 'cacheBust', 'boolean'],
  ['conditions', 'conditions', 'json'],
  ['expected_tls_alert', 'expectedTlsAlert'],
]

/** Tables with records that the converter warns about, by the name of the section in the warning. */
const OTHER_SECTIONS: Record<string, string> = {
  status_page: 'statusPageList',
  maintenance: 'maintenanceList',
  proxy: 'proxyList',
  docker_host: 'dockerHostList',
}

/**
 * Reads a database of Uptime Kuma 1 or 2 (`kuma.db`) into the form of a backup. Throws 400 for a database that is damaged or
 * is not one of Uptime Kuma. See docs/import-export.md#from-uptime-kuma.
 */
export const readUptimeKumaDatabase = (sqlite: SqlJsStatic, bytes: Uint8Array): ForeignRecord =>
  readTables(sqlite, bytes, toBackup)

function toBackup(read: ReadTable): ForeignRecord {
  const columns = MONITOR_COLUMNS.map(([column]) => column)
  const monitors = read('monitor', columns)
  if (monitors.length === 0) {
    const isKuma = read('setting', ['key']).length > 0 || read('user', ['id']).length > 0
    throw fileError(
      isKuma ? 'the database has no monitors' : 'the database is not one of Uptime Kuma: it has no monitors',
    )
  }
  if (!monitors.every(({ name, type }) => name !== undefined && type !== undefined))
    throw fileError('the database is not one of Uptime Kuma: the table monitor has no name and type')
  const notifications = groupBy(read('monitor_notification', ['monitor_id', 'notification_id']), getMonitorId)
  const names = new Map(read('tag', ['id', 'name']).map(({ id, name }) => [id, name]))
  const tags = groupBy(read('monitor_tag', ['monitor_id', 'tag_id', 'value']), getMonitorId)
  const isActive = createActiveCheck(monitors)
  return {
    notificationList: read('notification', ['id', 'name', 'config', 'active', 'is_default']).map(toNotification),
    monitorList: monitors.map(row => ({
      ...toMonitor(row),
      active: isActive(row),
      notificationIDList: Object.fromEntries(
        (notifications.get(String(row.id)) ?? []).map(({ notification_id: id }) => [String(id), true]),
      ),
      tags: (tags.get(String(row.id)) ?? []).map(({ tag_id: id, value }) => ({ name: names.get(id ?? null), value })),
    })),
    ...Object.fromEntries(
      Object.entries(OTHER_SECTIONS).map(([table, section]) => [section, read(table, ['id'])] as const),
    ),
  }
}

const getMonitorId = ({ monitor_id }: Row) => String(monitor_id)

const toMonitor = (row: Row): ForeignRecord =>
  Object.fromEntries(
    MONITOR_COLUMNS.flatMap(([column, property, kind = 'value']) =>
      row[column] === undefined ? [] : [[property, toValue(row[column], kind)]],
    ),
  )

function toValue(value: SqlValue, kind: Kind): unknown {
  if (kind === 'boolean') return value === null ? undefined : Number(value) !== 0
  return kind === 'json' ? parseOrNull(value) : value
}

function parseOrNull(value: SqlValue): unknown {
  try {
    return JSON.parse(String(value))
  } catch {
    return null
  }
}

const toNotification = ({ id, name, config, active, is_default: isDefault }: Row): ForeignRecord => ({
  ...{ id, name, config },
  active: active === undefined || Number(active) !== 0,
  isDefault: Number(isDefault ?? 0) !== 0,
})

/** A monitor below a paused group is paused, as in a backup. */
function createActiveCheck(rows: Row[]): (row: Row) => boolean {
  const byId = new Map(rows.map(row => [row.id, row]))
  return row => {
    const seen = new Set<Row>()
    for (let at: Row | undefined = row; at && !seen.has(at); at = byId.get(at.parent ?? null)) {
      seen.add(at)
      if (at.active !== undefined && Number(at.active) === 0) return false
    }
    return true
  }
}
