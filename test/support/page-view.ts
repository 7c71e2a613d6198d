import type { ComponentView, IncidentView, PageView } from '../../control-plane/pages/core/types.ts'

const uuid = (last: string) => `0190a0a0-0000-7000-8000-${last.padStart(12, '0')}`

export const componentView = (change: Partial<ComponentView> = {}): ComponentView => ({
  id: uuid('c1'),
  name: 'Shop',
  description: null,
  status: 'operational',
  days: null,
  uptimePercent: 99.987,
  responseTimes: [
    { date: '2026-08-01', medianMs: 128.4 },
    { date: '2026-08-02', medianMs: null },
  ],
  updatedAt: '2026-08-01T10:00:00.000Z',
  ...change,
})

export const incidentView = (change: Partial<IncidentView> = {}): IncidentView => ({
  id: uuid('d1'),
  title: 'Checkout is slow',
  status: 'monitoring',
  severity: 'major',
  startedAt: '2026-08-01T11:58:30.000Z',
  resolvedAt: null,
  updates: [
    { id: uuid('e2'), status: 'monitoring', message: 'A fix is in place.', at: '2026-08-01T12:20:00.000Z' },
    { id: uuid('e1'), status: 'investigating', message: 'We are looking\ninto it.', at: '2026-08-01T12:00:00.000Z' },
  ],
  postmortem: null,
  componentIds: [uuid('c1')],
  componentNames: ['Shop'],
  ...change,
})

/** A page with one component, one group of two, an open and a past incident, and planned maintenance. */
export const pageView = (change: Partial<PageView> = {}): PageView => ({
  id: uuid('a1'),
  name: 'Acme',
  slug: 'acme',
  template: 'minimal',
  brandColor: '#2563eb',
  path: '/status/acme',
  logoUrl: null,
  faviconUrl: null,
  customCss: null,
  seoTitle: null,
  seoDescription: null,
  showResponseTimes: true,
  showUptimePercentage: true,
  publicUrl: 'https://picket.example.com/status/acme',
  at: '2026-08-02T12:00:00.000Z',
  overall: { status: 'partial_outage', sentence: 'Some systems are out' },
  sections: [
    { kind: 'component', component: componentView() },
    {
      kind: 'group',
      group: {
        id: uuid('b1'),
        name: 'Interfaces',
        description: 'For programs',
        isCollapsed: false,
        status: 'outage',
        components: [
          componentView({ id: uuid('c2'), name: 'API', status: 'outage', uptimePercent: 98.5, responseTimes: null }),
          componentView({
            id: uuid('c3'),
            name: 'Webhooks',
            status: 'unknown',
            uptimePercent: null,
            responseTimes: null,
          }),
        ],
      },
    },
  ],
  openIncidents: [incidentView()],
  pastIncidents: [
    incidentView({
      id: uuid('d0'),
      title: 'Mail was late',
      status: 'resolved',
      severity: 'minor',
      startedAt: '2026-07-30T08:00:00.000Z',
      resolvedAt: '2026-07-30T09:00:00.000Z',
      updates: [],
      componentIds: [],
      componentNames: [],
    }),
  ],
  noticedMaintenance: [],
  maintenance: [
    {
      id: uuid('f1'),
      name: 'New database',
      description: 'It is read-only meanwhile.',
      isRunning: false,
      startsAt: '2026-08-05T02:00:00.000Z',
      endsAt: '2026-08-05T04:00:00.000Z',
      componentIds: [uuid('c2')],
      componentNames: ['API'],
    },
  ],
  ...change,
})

/** Texts that have broken pages, feeds and mails. */
export const HOSTILE_TEXTS = [
  '<script>alert(1)</script><img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>',
  "' onmouseover='alert(1)",
  ']]><script>alert(1)</script><![CDATA[',
  '</title></description></style></textarea><script>alert(1)</script>',
  '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>&e;&#0;&#x1;',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a hostile text
  '{{7*7}} ${alert(1)} `x`',
  'a\u0000\u0007\ufffe\ud800b\u202egnp.exe\u0085',
  'javascript:alert(1)//\r\nBcc: evil@example.com',
]

/** The page with `text` in every field of users. */
export function hostileView(text: string): PageView {
  const view = pageView()
  const incident = (one: IncidentView): IncidentView => ({
    ...one,
    title: text,
    updates: one.updates.map(update => ({ ...update, message: text })),
    componentNames: [text],
  })
  const component = (one: ComponentView): ComponentView => ({ ...one, name: text, description: text })
  return {
    ...view,
    name: text,
    seoTitle: text,
    seoDescription: text,
    overall: { ...view.overall, sentence: text },
    sections: view.sections.map(section =>
      section.kind === 'component'
        ? { ...section, component: component(section.component) }
        : {
            ...section,
            group: {
              ...section.group,
              name: text,
              description: text,
              components: section.group.components.map(component),
            },
          },
    ),
    openIncidents: view.openIncidents.map(incident),
    pastIncidents: view.pastIncidents.map(incident),
    maintenance: view.maintenance.map(one => ({
      ...one,
      name: text,
      description: text,
      isRunning: true,
      componentNames: [text],
    })),
  }
}
