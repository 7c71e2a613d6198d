import type { ScreenEntry } from '../../../core/screen.ts'

/** How visitors reach a status page: by subscription, at a domain of the customer, and from other sites. */
export const REACH_SCREENS: readonly ScreenEntry[] = [
  {
    path: '/pages/:id/subscribers',
    area: 'pages',
    load: async () => (await import('./subscribers.tsx')).pageSubscribersScreen,
  },
  {
    path: '/pages/:id/domain',
    area: 'pages',
    load: async () => (await import('./domain.tsx')).pageDomainScreen,
  },
  {
    path: '/pages/:id/embeds',
    area: 'pages',
    load: async () => (await import('./embeds.tsx')).pageEmbedsScreen,
  },
]
