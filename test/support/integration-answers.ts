import { type ApiAnswers, buildList } from './dashboard-answers.ts'
import { ago } from './dashboard-fixtures.ts'

type Source = NonNullable<ApiAnswers['readDataSource']>['data']
type Dependency = NonNullable<ApiAnswers['readDependency']>['data']

/** A data source that makes three monitors. */
export const STORED_SOURCE: Source = {
  ...{ id: '01900000-0000-7000-8000-000000000004', name: 'Platform', description: null },
  ...{ url: 'https://status.example.com/health.json', method: 'GET', headers: { 'X-Key': '********' }, body: null },
  ...{ auth_type: 'bearer', auth_config: { token: '********' }, root_path: null, fetch_interval_s: 60 },
  ...{
    timeout_ms: 10_000,
    is_paused: false,
    field_count: 1,
    child_monitor_count: 3,
    last_fetched_at: ago(1),
    last_success_at: ago(1),
  },
  ...{ last_error: null, truncated: null, problem: null, consecutive_failures: 0, next_fetch_at: ago(-1) },
  fields: [
    {
      ...{ id: '01900000-0000-7000-8000-000000000005', path: 'services.*.status', name_template: '{{key}}' },
      ...{ rule_type: 'equals', rule_config: { value: 'ok' }, degraded_rule_config: { value: 'slow' } },
      ...{ display_order: 0, created_at: ago(900), updated_at: ago(900) },
      child_monitors: (['web', 'api', 'mail'] as const).map((key, i) => ({
        ...{ monitor_id: `01900000-0000-7000-8000-00000000001${i}`, key, name: key },
        status: (['up', 'degraded', 'down'] as const)[i]!,
      })),
    },
  ],
  ...{ created_at: ago(900), updated_at: ago(900) },
}

/** A vendor with an open incident, whose recoveries one channel does not get. */
const STORED_DEPENDENCY: Dependency = {
  ...{ id: '01900000-0000-7000-8000-000000000006', slug: 'github', name: 'GitHub', category: 'developer' },
  ...{ status_url: 'https://www.githubstatus.com', feed_type: 'statuspage' },
  ...{ feed_url: 'https://www.githubstatus.com/api/v2/summary.json', feed_mapping: {}, components: ['Actions'] },
  overrides: [{ alert_channel_id: 'c1', on_down: true, on_degraded: true, on_resolved: false }],
  ...{ status: 'down', open_incidents: 1, last_checked_at: ago(1), last_error: null },
  ...{ created_at: ago(900), updated_at: ago(900) },
}

/** Answers of the screens of data sources and dependencies, with trouble. */
export const INTEGRATION_ANSWERS: ApiAnswers = {
  listDataSources: buildList([
    STORED_SOURCE,
    { ...STORED_SOURCE, id: 's2', name: 'Queues', last_error: 'status 503', consecutive_failures: 4 },
    {
      ...STORED_SOURCE,
      id: 's3',
      name: 'Nodes',
      problem: 'the document has 412 keys; only the first 200 have a monitor',
    },
  ]),
  readDataSource: { data: STORED_SOURCE },
  listDependencies: buildList([
    STORED_DEPENDENCY,
    {
      ...{ ...STORED_DEPENDENCY, id: 'd2', slug: null, name: 'Our host', components: [], status: 'unknown' as const },
      ...{ open_incidents: 0, last_error: 'the feed responded with status 404' },
    },
  ]),
  readDependency: { data: STORED_DEPENDENCY },
  listDependencyIncidents: buildList([
    {
      ...{ id: 'v1', dependency_id: STORED_DEPENDENCY.id, title: 'Actions are delayed', severity: 'major' as const },
      ...{
        status: 'identified' as const,
        components: ['Actions'],
        source_url: 'https://www.githubstatus.com/incidents/1',
      },
      ...{ started_at: ago(30), resolved_at: null, created_at: ago(30), updated_at: ago(5) },
    },
  ]),
  listDependencyCatalog: buildList(
    ['GitHub', 'GitLab', 'Google Cloud'].map(name => ({
      ...{ slug: name.toLowerCase(), name, category: 'developer', status_url: 'https://status.example.com' },
      ...{ feed_type: 'statuspage' as const, feed_url: 'https://status.example.com/api/v2/summary.json' },
      dependency_id: name === 'GitHub' ? STORED_DEPENDENCY.id : null,
    })),
  ),
}
