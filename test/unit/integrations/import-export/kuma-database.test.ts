import t from 'tap'
import { createOwnFaultFinder } from '../../../../control-plane/foundation/web/validation/schema-compiler.ts'
import { readImportFile } from '../../../../control-plane/integrations/import-export/jobs/reading/read-file.ts'
import { KUMA_VERSIONS, readMigratedDatabase, sqlite } from '../../../support/kuma-database.ts'

const tools = { findFaults: createOwnFaultFinder(), sqlite }

const HTTP = { interval_seconds: 60, timeout_ms: 48_000, retry_count: 0, type: 'http', method: 'GET', rules: [] }
const ACCEPTED = [{ type: 'status_code', operator: 'equals', value: '200-299' }]

/** What the records of the databases become. `false`: default of a new HTTP monitor in version 1 without the setting. */
const listExpected = (domain_check: boolean) => [
  {
    ...{ ...HTTP, name: 'Shop', url: 'https://shop.example.com/health', method: 'POST', retry_count: 2 },
    ...{ ssl_check: true, domain_check, body: '{"a": 1}' },
    headers: { 'Content-Type': 'application/json', 'X-Team': 'ops' },
    auth_type: 'basic',
    auth_config: { username: 'ann', password: 'secret-of-shop' },
    assertions: [{ type: 'status_code', operator: 'matches', value: '^(2\\d\\d|404)$' }],
    tags: ['Production', 'Web', 'team: web', 'critical'],
    rules: [
      { channel: 'Ops', remind_every_minutes: 10 },
      { channel: 'Hook', remind_every_minutes: 10 },
      { channel: 'Mail', remind_every_minutes: undefined },
    ],
  },
  {
    ...{ ...HTTP, name: 'Search', type: 'keyword', url: 'https://search.example.com/', is_paused: true },
    ...{ keyword: 'No results', keyword_type: 'not_contains', assertions: ACCEPTED, domain_check },
  },
  {
    ...{ ...HTTP, name: 'Version', url: 'https://api.example.com/version', domain_check },
    assertions: [...ACCEPTED, { type: 'json_path', operator: 'equals', value: '$.data.version: 2' }],
  },
  { name: 'Database', type: 'tcp', url: 'db.example.com:5432', is_paused: true, tags: ['Staging'], rules: [] },
  { name: 'Router', type: 'ping', url: 'router.example.com', interval_seconds: 30 },
  { name: 'Mail records', type: 'dns', url: 'dns://9.9.9.9/example.com?type=MX' },
  { name: 'Backup', type: 'heartbeat', heartbeat_interval: 3_600, heartbeat_grace: 0 },
  // its address is reserved and will be refused as a target
  { ...HTTP, name: 'Inside', url: 'http://203.0.113.7:8080/', assertions: ACCEPTED, domain_check },
  { ...HTTP, name: 'Grüße 🐻', url: 'https://xn--gre-6ka8i.example.com/ä?q=1', assertions: ACCEPTED, domain_check },
]

/** Two monitors that only version 2 can have. */
const ONLY_IN_2 = [
  { ...HTTP, name: 'Bearer', auth_type: 'bearer', auth_config: { token: 'secret-of-bearer' } },
  { name: 'Conditions', type: 'dns', url: 'dns://1.1.1.1/example.com?type=A' },
]

const WARNINGS = [
  "Mail: mail is sent by Picket's mail server, not by the configured one",
  'Hook: the webhook gets the events of Picket, whose format differs from Uptime Kuma',
  'Telegram: notifications of type telegram are not supported; it was left out',
  'Production: a group becomes a tag of its monitors; its notifications become alert rules of each of them',
  'Web: a group becomes a tag of its monitors; its notifications become alert rules of each of them',
  'Search: its description was not carried over',
  'Staging: a group becomes a tag of its monitors; its notifications become alert rules of each of them',
  'Database: its notification 4 is not a channel of the file; its alert rule was left out',
  'Router: its interval of 20 s was changed to 30 s',
  'Mail records: only its first resolver, 9.9.9.9, is used',
  'Backup: it gets a new ping address; update the sender of the pings',
  'Inside: certificates are always verified; an invalid one makes the check fail',
  'Inside: its proxy was not carried over',
  'Queue: monitors of type mqtt are not supported; it was left out',
  'Container: monitors of type docker are not supported; it was left out',
  'Firewall: upside down mode is not supported; it was left out',
]
const LAST_WARNINGS = [
  'Retries: they become re-checks, which follow within seconds instead of the retry interval',
  'Status pages: this section was not carried over',
  'Maintenance: this section was not carried over',
  'Proxies: this section was not carried over',
  'Docker hosts: this section was not carried over',
]

for (const version of KUMA_VERSIONS) {
  t.test(`A database that the migrations of Uptime Kuma ${version} made is read completely`, t => {
    const isVersion2 = version.startsWith('2.')
    const { file, warnings } = readImportFile(readMigratedDatabase(version), 'uptime-kuma', tools)
    t.match(file.alert_channels, [
      { name: 'Ops', type: 'chat_a', config: { webhook_url: /secret-of-slack$/ }, is_default: true },
      { name: 'Mail', type: 'email', config: { to: ['ann@example.com', 'bob@example.com'] }, is_default: false },
      { name: 'Hook', type: 'webhook', config: { headers: { Authorization: 'Bearer secret-of-hook' } } },
    ])
    const expected = [...listExpected(isVersion2), ...(isVersion2 ? ONLY_IN_2 : [])]
    t.same(
      file.monitors?.map(({ name }) => name),
      expected.map(({ name }) => name),
    )
    t.match(file.monitors, expected)
    t.same(
      warnings.map(({ message }) => message),
      [...WARNINGS, ...(isVersion2 ? ['Conditions: its conditions were left out'] : []), ...LAST_WARNINGS],
    )
    t.end()
  })
}
