import { type ComponentChild, h } from 'preact'
import t from 'tap'
import { FrameProvider, STATIC_TOOLS } from '../../../control-plane/dashboard/core/frame-context.ts'
import {
  buildRehearsalRows,
  RehearsalResult,
} from '../../../control-plane/dashboard/screens/setup/monitors/rehearsal/rehearsal-result.tsx'
import { RehearsalSection } from '../../../control-plane/dashboard/screens/setup/monitors/rehearsal/rehearsal-section.tsx'
import { renderHtml } from '../../../control-plane/foundation/web/html/render.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 10, 20, 14, minute)).toISOString()
const period = (from: number, to: number | null, detectedAfterMs: number | null = null) => ({
  ...{ from: at(from), to: to === null ? null : at(to), detected_after_ms: detectedAfterMs },
})
const outcome = (outages: ReturnType<typeof period>[], degradations: ReturnType<typeof period>[] = []) => ({
  ...{ outages, degradations, outage_count: outages.length, degradation_count: degradations.length },
})
const RECORD = {
  monitor_id: 'm',
  from: at(0),
  to: at(59),
  sentence: '2 outages become 1.',
  before: outcome([period(10, 12, 5_000), period(40, 41)]),
  after: outcome([period(11, 12, 65_000)], [period(30, null)]),
  detected_later_ms: 60_000,
  checks: 1_234,
  approximate: true,
  reasons: [{ code: 'clock_set' as const, message: 'The clock of JetStream was set.' }],
  limits: [{ code: 'rechecks_not_made' as const, message: 'The additional re-checks were not made.' }],
}

function render(element: ComponentChild, scope: 'read' | 'write' = 'write'): string {
  const execute = async () => {
    throw new Error('nothing is carried out while a page is rendered')
  }
  const frame = { me: { scope }, nowMs: Date.parse(at(59)), timeZone: 'UTC', isInteractive: true, execute }
  const html = renderHtml(h(FrameProvider, { value: { ...frame, ...STATIC_TOOLS } } as never, element))
  return html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
}

t.test('Outages that overlap are one row, in order of time', async t => {
  t.same(buildRehearsalRows(RECORD.before, RECORD.after), [
    { kind: 'outage', before: period(10, 12, 5_000), after: period(11, 12, 65_000) },
    { kind: 'degradation', before: null, after: period(30, null) },
    { kind: 'outage', before: period(40, 41), after: null },
  ])
})

t.test('The result is the sentence, both sides, the reasons and the limits', async t => {
  const text = render(h(RehearsalResult, { record: RECORD }))
  t.match(text, /2 outages become 1\. This is approximate\. 1,234 checks were decided again/)
  t.match(
    text,
    /Down 20 Nov 2026, 14:10:00 UTC for 2 min, detected after 5 s 20 Nov 2026, 14:11:00 UTC for 1 min, detected after 65 s/,
  )
  t.match(text, /Degraded none 20 Nov 2026, 14:30:00 UTC until now/)
  t.match(text, /The clock of JetStream was set\..*The additional re-checks were not made\./)
  const none = render(h(RehearsalResult, { record: { ...RECORD, after: null, approximate: false, reasons: [] } }))
  t.notMatch(none, /Down|approximate/)
})

t.test('The part is shown to those who may change settings that can be simulated', async t => {
  const section = (update: object) => h(RehearsalSection, { monitorId: 'm', update })
  t.match(render(section({ retry_count: 3 })), /What would have happened.*Rehearse over 7 days/)
  t.equal(render(section({ name: 'Other' })), '')
  t.equal(render(section({ retry_count: 3 }), 'read'), '')
})
