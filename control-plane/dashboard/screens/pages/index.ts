import type { ScreenEntry } from '../../core/screen.ts'

/** Status pages. Their code, and that of the templates, is loaded when one is opened. */
export const PAGES_SCREENS: readonly ScreenEntry[] = [
  { path: '/pages', area: 'pages', load: async () => (await import('./list/page-list.tsx')).pageListScreen },
  { path: '/pages/new', area: 'pages', load: async () => (await import('./list/new-page.tsx')).newPageScreen },
  { path: '/pages/:id', area: 'pages', load: async () => (await import('./editor/editor.tsx')).pageEditorScreen },
]
