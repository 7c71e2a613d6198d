import type { ScreenEntry } from '../../../core/screen.ts'

/** The forms of incidents, whose code is loaded when one is opened. Before `/incidents/:id`, because the first path that fits counts. */
export const HANDLING_SCREENS: readonly ScreenEntry[] = [
  {
    path: '/incidents/new',
    area: 'incidents',
    load: async () => (await import('./new-incident.tsx')).newIncidentScreen,
  },
  {
    path: '/incidents/templates',
    area: 'incidents',
    load: async () => (await import('./templates.tsx')).templatesScreen,
  },
  {
    path: '/incidents/:id/edit',
    area: 'incidents',
    load: async () => (await import('./edit-incident.tsx')).editIncidentScreen,
  },
  {
    path: '/incidents/:id/postmortem',
    area: 'incidents',
    load: async () => (await import('./postmortem.tsx')).postmortemScreen,
  },
]
