/** Builds databases with the tables of Uptime Kuma that an import reads, as `kuma.db` of version 1 and 2 has them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from 'sql.js'
import initSqlJs from 'sql.js/dist/sql-wasm-inline.js'

export const sqlite = await initSqlJs()

type Cell = string | number | null
type KumaRow = Record<string, Cell>
type KumaTables = Record<string, KumaRow[]>

/** The schema of version 1.23 for these tables, in types and defaults. */
const VERSION_1 = `
  CREATE TABLE user (id INTEGER PRIMARY KEY AUTOINCREMENT, username VARCHAR(255) NOT NULL UNIQUE, password VARCHAR(255));
  CREATE TABLE setting (id INTEGER PRIMARY KEY AUTOINCREMENT, key VARCHAR(200) NOT NULL UNIQUE, value TEXT, type VARCHAR(20));
  CREATE TABLE notification (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(255), active BOOLEAN NOT NULL DEFAULT 1,
    user_id INTEGER, is_default BOOLEAN NOT NULL DEFAULT 0, config TEXT);
  CREATE TABLE monitor (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(150), active BOOLEAN NOT NULL DEFAULT 1,
    user_id INTEGER, interval INTEGER NOT NULL DEFAULT 20, url TEXT, type VARCHAR(20), weight INTEGER DEFAULT 2000,
    hostname VARCHAR(255), port INTEGER, created_date DATETIME DEFAULT (DATETIME('now')) NOT NULL, keyword VARCHAR(255),
    maxretries INTEGER NOT NULL DEFAULT 0, ignore_tls BOOLEAN NOT NULL DEFAULT 0, upside_down BOOLEAN NOT NULL DEFAULT 0,
    maxredirects INTEGER NOT NULL DEFAULT 10, accepted_statuscodes_json TEXT NOT NULL DEFAULT '["200-299"]',
    dns_resolve_type VARCHAR(5), dns_resolve_server VARCHAR(255), retry_interval INTEGER NOT NULL DEFAULT 0,
    push_token VARCHAR(20), method TEXT NOT NULL DEFAULT 'GET', body TEXT, headers TEXT, basic_auth_user TEXT,
    basic_auth_pass TEXT, proxy_id INTEGER, expiry_notification BOOLEAN DEFAULT 1, auth_method VARCHAR(250),
    resend_interval INTEGER NOT NULL DEFAULT 0, packet_size INTEGER NOT NULL DEFAULT 56, http_body_encoding VARCHAR(25),
    description TEXT, tls_ca TEXT, tls_cert TEXT, tls_key TEXT, parent INTEGER REFERENCES monitor (id),
    invert_keyword BOOLEAN NOT NULL DEFAULT 0, json_path TEXT, expected_value VARCHAR(255), timeout DOUBLE NOT NULL DEFAULT 0);
  CREATE TABLE monitor_notification (id INTEGER PRIMARY KEY AUTOINCREMENT, monitor_id INTEGER NOT NULL,
    notification_id INTEGER NOT NULL);
  CREATE TABLE tag (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(255) NOT NULL, color VARCHAR(255) NOT NULL DEFAULT '#111');
  CREATE TABLE monitor_tag (id INTEGER PRIMARY KEY AUTOINCREMENT, monitor_id INTEGER NOT NULL, tag_id INTEGER NOT NULL, value TEXT);
  CREATE TABLE status_page (id INTEGER PRIMARY KEY AUTOINCREMENT, slug VARCHAR(255) NOT NULL UNIQUE, title VARCHAR(255) NOT NULL);
  CREATE TABLE maintenance (id INTEGER PRIMARY KEY AUTOINCREMENT, title VARCHAR(150) NOT NULL);
  CREATE TABLE heartbeat (id INTEGER PRIMARY KEY AUTOINCREMENT, monitor_id INTEGER NOT NULL, status SMALLINT NOT NULL, msg TEXT);
  CREATE INDEX monitor_tag_index ON monitor_tag (monitor_id);`

/** What the migrations of version 2 add to these tables. */
const VERSION_2 = `${VERSION_1}
  CREATE TABLE knex_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(255), batch INTEGER, migration_time DATETIME);
  ALTER TABLE monitor ADD json_path_operator VARCHAR(255);
  ALTER TABLE monitor ADD cache_bust BOOLEAN NOT NULL DEFAULT 0;
  ALTER TABLE monitor ADD conditions TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE monitor ADD domain_expiry_notification BOOLEAN DEFAULT 1;
  ALTER TABLE monitor ADD ping_count INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE monitor ADD ping_per_request_timeout INTEGER NOT NULL DEFAULT 2;
  ALTER TABLE monitor ADD ip_family BOOLEAN DEFAULT NULL;
  ALTER TABLE monitor ADD retry_only_on_status_code_failure BOOLEAN NOT NULL DEFAULT 0;
  ALTER TABLE monitor ADD bearer_token TEXT DEFAULT NULL;`

/** The versions of which test/fixtures/exchange has a database that their own migrations made, as SQL. */
export const KUMA_VERSIONS = ['1.23.17', '2.5.3'] as const

/** The database of one version as a file. */
export function readMigratedDatabase(version: (typeof KUMA_VERSIONS)[number]): Buffer {
  const db = new sqlite.Database()
  db.run(readFileSync(join(import.meta.dirname, `../fixtures/exchange/uptime-kuma-${version}.sql`), 'utf8'))
  return toFile(db)
}

/** A database with these rows. `alsoRun`: more SQL. */
export function buildKumaDatabase(version: 1 | 2, tables: KumaTables, alsoRun = ''): Buffer {
  const db = new sqlite.Database()
  db.run(version === 1 ? VERSION_1 : VERSION_2)
  db.run('BEGIN')
  for (const [table, rows] of Object.entries(tables)) {
    for (const row of rows) {
      const names = Object.keys(row)
      const sql = `INSERT INTO "${table}" (${names.map(name => `"${name}"`)}) VALUES (${names.map(() => '?')})`
      db.run(sql, Object.values(row))
    }
  }
  db.run('COMMIT')
  if (alsoRun !== '') db.run(alsoRun)
  return toFile(db)
}

/** The journal mode of the file is WAL, as in installations. */
function toFile(db: Database): Buffer {
  const bytes = Buffer.from(db.export())
  db.close()
  bytes[18] = 2
  bytes[19] = 2
  return bytes
}

/** A small installation: three monitors that are carried over, a group, one that is left out, two notifications. */
export const KUMA_TABLES: KumaTables = {
  user: [{ id: 1, username: 'admin' }],
  notification: [
    {
      id: 1,
      name: 'Ops',
      is_default: 1,
      config: JSON.stringify({
        type: 'slack',
        slackwebhookURL: 'https://hooks.slack.com/services/T/B/secret-of-slack',
      }),
    },
    { id: 2, name: 'Pager', config: JSON.stringify({ type: 'pagerduty', pagerdutyIntegrationKey: 'x' }) },
  ],
  monitor: [
    { id: 1, name: 'Production', type: 'group' },
    {
      ...{ id: 2, name: 'Shop', type: 'http', url: 'https://shop.example.com/health', interval: 60, maxretries: 2 },
      ...{ parent: 1, accepted_statuscodes_json: '["200-299","404"]', basic_auth_user: 'u', basic_auth_pass: 'p' },
      auth_method: 'basic',
    },
    { id: 3, name: 'Router', type: 'ping', hostname: 'router.example.com', interval: 20, active: 0 },
    { id: 4, name: 'Job', type: 'push', push_token: 'abc', interval: 600 },
    { id: 5, name: 'Queue', type: 'rabbitmq' },
  ],
  monitor_notification: [
    { monitor_id: 2, notification_id: 1 },
    { monitor_id: 3, notification_id: 2 },
  ],
  tag: [{ id: 7, name: 'team' }],
  monitor_tag: [{ monitor_id: 2, tag_id: 7, value: 'web' }],
  status_page: [{ id: 1, slug: 'main', title: 'Main' }],
  heartbeat: [{ monitor_id: 2, status: 1, msg: '200 - OK' }],
}

/** A database with this many HTTP monitors that alert one channel. */
export const buildLargeKumaDatabase = (monitors: number): Buffer =>
  buildKumaDatabase(2, {
    notification: KUMA_TABLES.notification!.slice(0, 1),
    monitor: Array.from({ length: monitors }, (_, i) => ({
      ...{ id: i + 1, name: `Shop ${i}`, type: 'http', url: `https://shop.example.com/${i}`, interval: 60 },
      ...{ maxretries: 1, headers: JSON.stringify({ 'X-Shop': `${i}` }) },
    })),
    monitor_notification: Array.from({ length: monitors }, (_, i) => ({ monitor_id: i + 1, notification_id: 1 })),
    tag: [{ id: 1, name: 'shop' }],
    monitor_tag: Array.from({ length: monitors }, (_, i) => ({ monitor_id: i + 1, tag_id: 1, value: null })),
  })
