import t from 'tap'
import { moveChanges } from '../../../control-plane/dashboard/parts/forms/stored/move-changes.ts'
import { toIncidentChange } from '../../../control-plane/dashboard/screens/incidents/handling/incident-fields.tsx'
import {
  newIncidentScreen,
  toIncidentBody,
} from '../../../control-plane/dashboard/screens/incidents/handling/new-incident.tsx'
import { toPostmortemChange } from '../../../control-plane/dashboard/screens/incidents/handling/postmortem.tsx'
import {
  listTimelineLines,
  proposePostmortem,
} from '../../../control-plane/dashboard/screens/incidents/handling/postmortem-text.ts'
import {
  toTemplateBody,
  toTemplateChange,
} from '../../../control-plane/dashboard/screens/incidents/handling/template-form.tsx'
import { templatesScreen } from '../../../control-plane/dashboard/screens/incidents/handling/templates.tsx'
import {
  buildVisitorView,
  listPublicUpdates,
} from '../../../control-plane/dashboard/screens/incidents/handling/visitor-view.ts'
import { buildIncident } from '../../support/dashboard-answers.ts'
import { buildList, NOW_MS, renderScreen } from '../../support/render-screen.ts'

const update = (message: string, status = 'identified', isInternal = false) => ({
  ...{ kind: 'incident_updated', at: '2026-11-21T14:05:00.000Z', update_id: message, status, message },
  ...{ is_internal: isInternal, author_id: null },
})
const opened = {
  kind: 'incident_opened',
  at: '2026-11-21T14:00:00.000Z',
  title: 'Slow',
  severity: 'minor',
  source: 'manual',
}
const buildTimeline = (...items: object[]) => ({ items }) as unknown as Parameters<typeof listPublicUpdates>[0]
const draft = {
  ...{ id: null, title: 'Slow', severity: 'minor' as const, status: 'investigating' as const },
  ...{ monitor_ids: ['m1'], started_at: null, resolved_at: null },
}

t.test(
  'The preview of an update contains the public updates only, newest first, and the names of the page',
  async t => {
    const earlier = listPublicUpdates(
      buildTimeline(opened, update('First.'), update('Secret.', 'identified', true), update('Second.')),
    )
    t.same(
      earlier.map(({ message }) => message),
      ['Second.', 'First.'],
    )
    const components = [
      { id: 'c1', name: 'Checkout page', monitor_id: 'm1' },
      { id: 'c2', name: 'Blog', monitor_id: 'm2' },
    ]
    const view = buildVisitorView(draft, earlier, { message: 'Third.', status: 'monitoring' }, components, NOW_MS)
    t.match(view, { status: 'monitoring', resolvedAt: null, componentNames: ['Checkout page'] })
    t.same(
      view.updates.map(({ message }) => message),
      ['Third.', 'Second.', 'First.'],
    )
    const over = buildVisitorView(draft, [], { message: 'Done.', status: 'resolved' }, [], NOW_MS)
    t.equal(over.resolvedAt, new Date(NOW_MS).toISOString())
  },
)

t.test('The proposed post-mortem has the times of the incident, and nothing internal', async t => {
  const incident = buildIncident({
    ...{
      title: 'Checkout is slow',
      status: 'resolved',
      source: 'manual',
      monitors: [{ id: 'm1', name: 'Shop', status: 'up' }],
    },
    ...{ started_at: '2026-11-21T14:00:00.000Z', resolved_at: '2026-11-21T14:30:00.000Z' },
  })
  const timeline = buildTimeline(
    opened,
    {
      kind: 'transition',
      at: '2026-11-21T14:01:00.000Z',
      monitor_id: 'm1',
      to: 'down',
      summary: '2 of 3 regions failed',
    },
    update('We found\nthe cause.'),
    update('Ask Bob.', 'identified', true),
    { kind: 'delivery', at: '2026-11-21T14:06:00.000Z' },
    { kind: 'incident_resolved', at: '2026-11-21T14:30:00.000Z' },
  )
  const text = proposePostmortem(incident, timeline)
  t.match(
    text,
    /^Summary\nCheckout is slow, from 21 Nov 2026, 14:00:00 UTC\. It lasted 30 min\. Affected: Shop\.\n\nCause\n/,
  )
  t.match(text, '14:01:00 UTC  Shop is down: 2 of 3 regions failed')
  t.match(text, '14:05:00 UTC  Identified: We found the cause.')
  t.match(text, /14:30:00 UTC {2}The incident is resolved$/)
  t.notMatch(text, /Ask Bob/)
  const nights = ['20T23:50', '20T23:55', '21T00:20', '24T02:10'].map(at => ({
    ...update('Hm.'),
    at: `2026-11-${at}:00.000Z`,
  }))
  t.same(
    listTimelineLines(buildTimeline(...nights), new Map()).map(line => line.split(' UTC')[0]),
    ['20 Nov 2026, 23:50:00', '23:55:00', '21 Nov 2026, 00:20:00', '24 Nov 2026, 02:10:00'],
    'the first line of each day has its date',
  )
  const many = buildTimeline(...Array.from({ length: 50 }, () => update('x'.repeat(500))))
  const lines = listTimelineLines(many, new Map())
  t.same([lines.length, lines.at(-1)], [41, 'and 10 more'])
  t.ok(proposePostmortem(incident, many).length <= 10_000)
})

t.test('The forms of an incident send what differs', async t => {
  const stored = buildIncident({ title: 'Slow', severity: 'minor', monitor_ids: ['m1'] })
  const form = { title: 'Slow', severity: 'minor' as const, monitors: [{ id: 'm1', name: 'Shop' }] }
  t.equal(toIncidentChange(stored, form), null)
  t.same(toIncidentChange(stored, { ...form, title: 'Slower' }), { title: 'Slower' })
  t.same(toIncidentChange(stored, { ...form, monitors: [] }), { monitor_ids: [] })
  t.same(toIncidentChange(stored, { ...form, monitors: [{ id: 'm2', name: 'Blog' }] }), { monitor_ids: ['m2'] })

  const full = { ...form, status: 'investigating' as const, message: 'Hm.', isInternal: true }
  t.same(toIncidentBody(full), {
    ...{
      title: 'Slow',
      severity: 'minor',
      status: 'investigating',
      message: 'Hm.',
      monitor_ids: ['m1'],
      is_internal: true,
    },
  })
  t.notOk('is_internal' in toIncidentBody({ ...full, message: '' }))

  const none = { postmortem: null, postmortem_published_at: null }
  const published = { postmortem: 'Why.', postmortem_published_at: '2026-11-21T15:00:00.000Z' }
  t.equal(toPostmortemChange(none, { text: ' ', isPublished: true }), null, 'nothing is published without a text')
  t.same(toPostmortemChange(none, { text: 'Why.', isPublished: true }), {
    postmortem: 'Why.',
    is_postmortem_published: true,
  })
  t.same(toPostmortemChange(published, { text: 'Why.', isPublished: false }), { is_postmortem_published: false })
  t.same(toPostmortemChange(published, { text: '', isPublished: true }), {
    postmortem: null,
    is_postmortem_published: false,
  })

  const empty = { name: '', title: '', severity: '' as const, status: '' as const, message: '' }
  const typed = { ...empty, name: ' Disk ', message: 'Full.', status: 'identified' as const }
  t.same(toTemplateBody(typed), {
    ...{ name: 'Disk', title: null, severity: null, status: 'identified', message: 'Full.' },
  })
  const template = {
    ...{ id: 't1', name: 'Disk', title: 'Disk', severity: null, status: 'identified' as const, message: 'Full.' },
    ...{ created_at: '2026-11-21T14:00:00.000Z', updated_at: '2026-11-21T14:00:00.000Z' },
  }
  t.same(toTemplateChange(template, typed), { title: null }, 'an update sends only what differs')
  t.equal(toTemplateChange(template, { ...typed, title: 'Disk' }), null)
})

t.test('Own changes are put on what another person has stored meanwhile', async t => {
  const before = { text: '', isPublished: false, monitors: ['a'], values: { url: 'x', from: 'y' } }
  const theirs = { text: 'A long text.', isPublished: false, monitors: ['a', 'b'], values: { url: 'z', from: 'y' } }
  t.same(moveChanges(before, theirs, before), theirs, 'nothing was typed')
  t.same(moveChanges(before, theirs, { ...before, isPublished: true }), { ...theirs, isPublished: true })
  t.same(moveChanges(before, theirs, { ...before, text: 'Mine.', values: { url: 'x', from: 'me' } }), {
    ...{ text: 'Mine.', isPublished: false, monitors: ['a', 'b'], values: { url: 'z', from: 'me' } },
  })
  t.same(moveChanges(before, theirs, { ...before, monitors: [] }).monitors, [], 'lists are not combined')
})

t.test('A viewer sees templates without forms, and which role is needed', async t => {
  const template = {
    ...{ id: 't1', name: 'Disk', title: null, severity: 'minor', status: null, message: 'The disk is full.' },
    ...{ created_at: '2026-11-21T14:00:00.000Z', updated_at: '2026-11-21T14:00:00.000Z' },
  }
  const answers = { templates: buildList([template]) }
  const viewer = renderScreen(templatesScreen, { answers, scope: 'read' })
  t.match(viewer.text, /Disk Minor The disk is full\./)
  t.match(viewer.text, /needs the role editor/)
  t.notMatch(viewer.html, /<form|<button/)
  t.match(renderScreen(templatesScreen, { answers: { templates: buildList([]) } }).text, /There is no template\./)
  t.match(
    renderScreen(newIncidentScreen, { answers: {}, scope: 'read' }).text,
    /Opening an incident needs the role editor/,
  )
})
