import t from 'tap'
import type { VendorSeverity } from '../../../../control-plane/integrations/vendors/feeds/report.ts'
import { selectRelevantIncidents } from '../../../../control-plane/integrations/vendors/incidents/affected-components.ts'

const TIMES = { started_at: null, resolved_at: null, updated_at: null, source_url: null }

t.test('The severity of an incident is the worst of its own and of its named components', async t => {
  const cases: [own: VendorSeverity, component: VendorSeverity, expected: [id: string, severity: VendorSeverity][]][] =
    [
      ['minor', 'none', [['a', 'minor']]],
      ['minor', 'critical', [['a', 'critical']]],
      ['critical', 'minor', [['a', 'critical']]],
      ['none', 'none', [['a', 'none']]],
      [
        'none',
        'critical',
        [
          ['a', 'none'],
          ['component:web', 'critical'],
        ],
      ],
    ]
  for (const [own, severity, expected] of cases) {
    const incident = {
      id: 'a',
      title: 'Errors',
      severity: own,
      status: 'investigating',
      components: ['Web'],
      ...TIMES,
    } as const
    const report = {
      status: 'unknown' as const,
      incidents: [{ ...incident, components: ['Web'] }],
      components: [
        { id: 'web', name: 'Web', severity },
        { id: 'mail', name: 'Mail', severity: 'critical' as const },
      ],
    }
    const selected = selectRelevantIncidents(report, ['Web'], [])
    t.same(
      selected.map(one => [one.id, one.severity]),
      expected,
      `${own} with a component that is ${severity}`,
    )
  }
})
