import type {
  ComponentView,
  DayView,
  DisplayStatus,
  GroupView,
  IncidentView,
  MaintenanceView,
  PageView,
} from '../../control-plane/pages/core/types.ts'

/** A fixed time, so that pages of these views always have the same bytes. */
export const NOW = '2026-11-21T14:05:30.000Z'
const DAY_MS = 86_400_000
const DAYS = 90

const dateAt = (place: number) => new Date(Date.parse(NOW) - (DAYS - 1 - place) * DAY_MS).toISOString().slice(0, 10)
const ago = (hours: number) => new Date(Date.parse(NOW) - hours * 3_600_000).toISOString()
const toId = (n: number) => `01935d20-7c1e-7000-8000-${String(n).padStart(12, '0')}`

/** Pseudo-random numbers between 0 and 1, the same for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

export function buildDay(place: number, status: DisplayStatus, downSeconds = 0, titles: string[] = []): DayView {
  const isKnown = status !== 'unknown'
  return {
    date: dateAt(place),
    status,
    upSeconds: isKnown ? 86_400 - downSeconds : 0,
    degradedSeconds: status === 'degraded' ? 1_260 : 0,
    downSeconds,
    maintenanceSeconds: status === 'maintenance' ? 5_400 : 0,
    unknownSeconds: isKnown ? 0 : 86_400,
    incidents: titles.map((title, i) => ({ id: toId(900 + place * 3 + i), title })),
  }
}

type Bad = Record<number, [DisplayStatus, number?, string?]>

/** A component with ninety days, operational except for the `bad` ones; unknown before the index `since`. */
function component(n: number, name: string, options: Partial<ComponentView> & { bad?: Bad; since?: number } = {}) {
  const { bad = {}, since = 0, ...given } = options
  const random = createRandom(n)
  const level = 60 + random() * 180
  const days = Array.from({ length: DAYS }, (_, place) => {
    const [status, down, title] = bad[place] ?? (place < since ? ['unknown' as const] : ['operational' as const])
    return buildDay(place, status, down, title ? [title] : [])
  })
  const down = days.reduce((sum, day) => sum + day.downSeconds, 0)
  return {
    id: toId(n),
    name,
    description: null,
    status: 'operational',
    days,
    uptimePercent: 100 - (down / ((DAYS - since) * 86_400)) * 100,
    responseTimes: days.map(({ date, status }) => ({
      date,
      medianMs:
        status === 'unknown'
          ? null
          : Math.round(level * (0.85 + random() * 0.3) * (status === 'operational' ? 1 : 2.1)),
    })),
    updatedAt: ago(200 + n),
    ...given,
  } satisfies ComponentView
}

function group(n: number, name: string, components: ComponentView[], given: Partial<GroupView> = {}): GroupView {
  return { id: toId(500 + n), name, description: null, isCollapsed: false, status: 'operational', components, ...given }
}

const openIncident: IncidentView = {
  id: toId(701),
  title: 'Checkout is slow and some payments fail',
  status: 'identified',
  severity: 'major',
  startedAt: ago(1.4),
  resolvedAt: null,
  updates: [
    {
      id: toId(712),
      status: 'identified',
      message:
        'Our card processor answers late for cards issued in Europe. We send these payments through our second processor now.\n\nPayments that failed were not charged; it is safe to try again.',
      at: ago(0.6),
    },
    {
      id: toId(711),
      status: 'investigating',
      message: 'Some customers see an error after they confirm a payment. We are looking into it.',
      at: ago(1.3),
    },
  ],
  postmortem: null,
  componentIds: [toId(3)],
  componentNames: ['Checkout'],
}

const pastIncidents: IncidentView[] = [
  {
    id: toId(702),
    title: 'Delayed webhooks',
    status: 'resolved',
    severity: 'minor',
    startedAt: ago(53),
    resolvedAt: ago(51.3),
    updates: [
      { id: toId(723), status: 'resolved', message: 'All webhooks that waited are delivered.', at: ago(51.3) },
      { id: toId(722), status: 'monitoring', message: 'The queue is getting shorter.', at: ago(52) },
      { id: toId(721), status: 'investigating', message: 'Webhooks arrive up to ten minutes late.', at: ago(52.9) },
    ],
    postmortem: null,
    componentIds: [toId(6)],
    componentNames: ['Webhooks'],
  },
  {
    id: toId(703),
    title: 'Search is down',
    status: 'resolved',
    severity: 'critical',
    startedAt: ago(196),
    resolvedAt: ago(195.3),
    updates: [
      {
        id: toId(731),
        status: 'resolved',
        message: 'An index was rebuilt while it was in use. It is back, and we changed how that is done.',
        at: ago(195.3),
      },
    ],
    postmortem: null,
    componentIds: [toId(5)],
    componentNames: ['Search'],
  },
]

const maintenance: MaintenanceView[] = [
  {
    id: toId(801),
    name: 'Database upgrade',
    description: 'Saving may take a few seconds longer. Nothing is lost.',
    isRunning: false,
    startsAt: ago(-61),
    endsAt: ago(-63),
    componentIds: [toId(1), toId(2)],
    componentNames: ['API', 'Dashboard'],
  },
]

/** The page of a shop with one open incident, one collapsed group, and a component with a manual status. */
export function ordinaryView(given: Partial<PageView> = {}): PageView {
  return {
    id: toId(1),
    name: 'Northwind',
    slug: 'northwind',
    template: 'minimal',
    brandColor: '#5b3df5',
    path: '/status/northwind',
    logoUrl: null,
    faviconUrl: null,
    customCss: null,
    seoTitle: null,
    seoDescription: null,
    showResponseTimes: true,
    showUptimePercentage: true,
    publicUrl: 'http://127.0.0.1/status/northwind',
    at: NOW,
    overall: { status: 'degraded', sentence: 'Some systems are degraded' },
    sections: [
      { kind: 'component', component: component(2, 'Website', { bad: { 31: ['outage', 840, 'Website is down'] } }) },
      {
        kind: 'component',
        component: component(3, 'Checkout', {
          description: 'Carts, payments and receipts',
          status: 'degraded',
          bad: { 12: ['degraded'], 58: ['degraded'], 89: ['degraded', 0, openIncident.title] },
        }),
      },
      {
        kind: 'group',
        group: group(1, 'Platform', [
          component(4, 'API', { bad: { 40: ['outage', 3_900, 'API is down'], 66: ['maintenance'] } }),
          component(5, 'Search', { bad: { 81: ['outage', 2_520, 'Search is down'] } }),
          component(6, 'Webhooks', { since: 34, bad: { 87: ['degraded', 0, 'Delayed webhooks'] } }),
        ]),
      },
      {
        kind: 'group',
        group: group(
          2,
          'Regions',
          [
            component(7, 'Frankfurt'),
            component(8, 'Virginia', { bad: { 20: ['degraded'] } }),
            component(9, 'Singapore'),
          ],
          { isCollapsed: true, description: 'Where requests are answered' },
        ),
      },
      {
        kind: 'component',
        component: component(10, 'Phone support', {
          description: 'Monday to Friday, 8 to 18 o’clock',
          days: null,
          uptimePercent: null,
          responseTimes: null,
        }),
      },
    ],
    openIncidents: [openIncident],
    pastIncidents,
    maintenance,
    noticedMaintenance: [],
    ...given,
  }
}

/** A new page. */
export const emptyView = (given: Partial<PageView> = {}): PageView =>
  ordinaryView({
    overall: { status: 'unknown', sentence: 'Nothing is being watched yet' },
    sections: [],
    openIncidents: [],
    pastIncidents: [],
    maintenance: [],
    ...given,
  })

/** Fifty components with ninety days each, all with different bad days, in five groups. */
export function largeView(given: Partial<PageView> = {}): PageView {
  const random = createRandom(7)
  const some = (n: number) => {
    const places = Array.from({ length: 4 }, () => Math.floor(random() * DAYS))
    const bad = Object.fromEntries(
      places.map((place, i) => [
        place,
        i % 2 ? (['outage', Math.floor(random() * 9_000), `Incident ${n}.${i}`] as const) : (['degraded'] as const),
      ]),
    ) as unknown as Bad
    return component(n, `Component number ${n}`, { bad, description: `What component ${n} is good for` })
  }
  const groups = Array.from({ length: 5 }, (_, g) =>
    group(
      g,
      `Group ${g + 1}`,
      Array.from({ length: 10 }, (_, i) => some(100 + g * 10 + i)),
    ),
  )
  return ordinaryView({ sections: groups.map(one => ({ kind: 'group', group: one })), ...given })
}
