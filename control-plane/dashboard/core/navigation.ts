import type { ScreenArea } from './screen.ts'

export type AreaPage = { path: string; name: string }

/** The entries of the navigation. `icon`: a path in a box of 24 by 24. */
export const AREAS: readonly (AreaPage & { area: ScreenArea; icon: string })[] = [
  { area: 'overview', path: '/', name: 'Overview', icon: 'M3 11.5 12 4l9 7.5M5.5 10v9.5h13V10' },
  { area: 'monitors', path: '/monitors', name: 'Monitors', icon: 'M4 6h16M4 12h16M4 18h16' },
  { area: 'incidents', path: '/incidents', name: 'Incidents', icon: 'M12 4 2.5 20h19zM12 10v5M12 17.2v.3' },
  { area: 'pages', path: '/pages', name: 'Pages', icon: 'M3.5 5h17v14h-17zM3.5 9.5h17M7 13h6M7 16h9' },
  { area: 'alerts', path: '/log', name: 'Alerts', icon: 'M6 16V11a6 6 0 0 1 12 0v5l1.5 2h-15zM10 20.5h4' },
  { area: 'settings', path: '/settings', name: 'Settings', icon: 'M4 7h9M19 7h1M4 17h1M11 17h9M16 4v6M8 14v6' },
]

/** The empty document of the page editor's preview. */
export const PREVIEW_FRAME_PATH = '/assets/preview-frame.html'

/** A document with the widget of a status page, as another site would have it. */
export const WIDGET_FRAME_PATH = '/assets/widget-frame.html'

/** The pages of an area, shown as tabs above each of them. */
export const AREA_PAGES = {
  incidents: [
    { path: '/incidents', name: 'Incidents' },
    { path: '/maintenance', name: 'Maintenance' },
    { path: '/incidents/templates', name: 'Templates' },
  ],
  monitors: [
    { path: '/monitors', name: 'Monitors' },
    { path: '/sources', name: 'Data sources' },
    { path: '/dependencies', name: 'Dependencies' },
    { path: '/fleet', name: 'Regions' },
  ],
  alerts: [
    { path: '/log', name: 'Deliveries' },
    { path: '/settings/channels', name: 'Channels' },
    { path: '/settings/alerts', name: 'Settings' },
    { path: '/settings/alerts/messages', name: 'Messages' },
    { path: '/log/relay', name: 'Relay' },
  ],
  settings: [
    { path: '/settings', name: 'Organization' },
    { path: '/settings/members', name: 'Members' },
    { path: '/settings/keys', name: 'API keys' },
    { path: '/settings/chat', name: 'Chat' },
    { path: '/settings/wall', name: 'Wallboard' },
    { path: '/settings/audit', name: 'Audit log' },
    { path: '/settings/import', name: 'Import' },
  ],
} as const satisfies Partial<Record<ScreenArea, readonly AreaPage[]>>
