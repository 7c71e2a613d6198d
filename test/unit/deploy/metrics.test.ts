import t from 'tap'
import { readText, readYaml } from '../../support/deployment.ts'
import { registeredMetrics } from '../../support/registered-metrics.ts'

const ROW = /^\| `(\w+)` \| (counter|gauge|histogram) \|(.*?)\| (.+) \|$/gm
const parseRows = (text: string) =>
  [...text.matchAll(ROW)].map(([, name = '', type, labels = '', meaning = '']) => ({
    name,
    type,
    labels: [...labels.matchAll(/`(\w+)`/g)].map(found => found[1]!),
    meaning,
  }))
const chapters = new Map(
  readText('docs/metrics.md')
    .split(/^## /m)
    .map(text => [text.slice(0, text.indexOf('\n')), parseRows(text)]),
)
const documented = [...chapters.values()].flat()
const names = new Set(documented.map(({ name }) => name))
const byName = new Map(documented.map(metric => [metric.name, metric]))

t.test('docs/metrics.md lists exactly the metrics that each program registers', async t => {
  for (const [chapter, program, atLeast] of [
    ['On every control plane', 'control-plane', 20],
    ['On every probe', 'probe-agent', 10],
  ] as const) {
    const registered = registeredMetrics(program)
    t.ok(registered.length > atLeast)
    t.same(
      chapters.get(chapter)?.map(({ name, type, labels }) => ({ name, type, labels })),
      registered,
    )
  }
  t.equal(documented.length, names.size, 'no two of them have one name')
})

/** Names and labels in an expression; histograms by their base name. */
function namesIn(expression: string): string[] {
  const found = expression.match(/\b(picket|nodejs|process)_\w+/g) ?? []
  return found.map(name => (names.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '')))
}

type Panel = { title: string; type: string; targets?: { expr: string }[]; panels?: Panel[] }

const dashboard: { panels: Panel[] } = JSON.parse(readText('deploy/monitoring/grafana-dashboard.json'))
const rules: { alert: string; expr: string; annotations: { summary: string } }[] = readYaml(
  'deploy/monitoring/alerts.yaml',
).groups[0].rules
const expressions = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
]

t.test('The dashboard and the alert rules use only documented metrics', async t => {
  t.ok(expressions.length > 30)
  for (const [where, expression] of expressions) {
    const used = namesIn(expression)
    if (!/^up\{/.test(expression)) t.ok(used.length > 0, where)
    t.same(
      used.filter(name => !names.has(name)),
      [],
      where,
    )
    for (const name of expression.match(/\b\w+_bucket\b/g) ?? [])
      t.equal(byName.get(name.replace(/_bucket$/, ''))?.type, 'histogram', `${where}: ${name}`)
  }
})

t.test('The dashboard and the alert rules use only existing labels', async t => {
  const common = ['job', 'instance', 'le']
  for (const [where, expression] of expressions) {
    const labels = new Set([...common, ...namesIn(expression).flatMap(name => byName.get(name)?.labels ?? [])])
    const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(found => found[1]!.split(/,\s*/))
    const selected = [...expression.matchAll(/[{,](\w+)\s*(?:=~|!~|!=|=)/g)].map(found => found[1]!)
    t.same(
      [...grouped, ...selected].filter(label => !labels.has(label)),
      [],
      where,
    )
  }
})

t.test('Every metric is on the dashboard, in a rule, or listed as a detail', async t => {
  const shown = new Set(expressions.flatMap(([, expression]) => namesIn(expression)))
  const lookedUp = new Set([
    'picket_domain_lookups_total',
    'picket_fleet_calls_refused_total',
    'picket_fleet_connections_refused_total',
    'picket_fleet_hints_lost_total',
    'picket_fleet_monitors',
    'picket_heartbeat_pings_kept_total',
    'picket_loop_round_seconds',
    'picket_mails_kept_back_total',
    'picket_mails_uncounted_total',
    'picket_mails_without_connection_total',
    'picket_probe_agent_screenshot_sandbox',
    'picket_retention_oldest_seconds',
    'picket_retention_rows_total',
    'picket_screenshots_total',
    'picket_status_page_image_fetches_total',
    'picket_tls_checks_refused_total',
    'picket_tls_checks_waiting',
    'picket_verdict_looked_for_total',
    'picket_verdict_unstored_monitors',
    'picket_verdict_watched_monitors',
  ])
  t.same(
    [...names].filter(name => !shown.has(name) && !lookedUp.has(name)),
    [],
  )
})
