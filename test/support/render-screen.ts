import { h } from 'preact'
import { FrameProvider, type Me, STATIC_TOOLS } from '../../control-plane/dashboard/core/frame-context.ts'
import type { Screen } from '../../control-plane/dashboard/core/screen.ts'
import { ScreenContent } from '../../control-plane/dashboard/parts/layout/screen-content.tsx'
import { renderHtml } from '../../control-plane/foundation/web/html/render.ts'

export const NOW_MS = Date.parse('2026-11-21T14:12:07Z')

const PERSON: Me = {
  user: { id: '01900000-0000-7000-8000-0000000000aa', email: 'ann@example.com', name: null },
  api_key: null,
  preferences: { theme: 'system', density: 'compact', keyboard_shortcuts: true, time_zone: null },
  organization: { id: '01900000-0000-7000-8000-0000000000bb', name: 'Example Ltd', plan: 'free' },
  project: { id: '01900000-0000-7000-8000-0000000000cc', name: 'Default' },
  scope: 'write',
  role: 'editor',
  is_operator: false,
}
export const OWN_USER_ID = PERSON.user!.id

type Shown = {
  /** the data that the reads of the screen return, by their name; an error for a read that fails */
  answers: Record<string, unknown>
  params?: Record<string, string>
  search?: string
  scope?: Me['scope']
}

/** A screen as the server renders it for an editor. `html`, and its `text` without elements. */
export function renderScreen(screen: Screen, { answers, params = {}, search = '', scope = 'write' }: Shown) {
  const results = Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [
      name,
      answer instanceof Error
        ? { data: null, atMs: NOW_MS, error: { status: 503, code: 'unavailable', message: answer.message } }
        : { data: answer, atMs: NOW_MS, error: null },
    ]),
  )
  const value = {
    ...{ me: { ...PERSON, scope }, nowMs: NOW_MS, timeZone: 'UTC', isInteractive: false },
    execute: async () => {
      throw new Error('nothing is carried out while a page is rendered')
    },
    ...STATIC_TOOLS,
  }
  const board = { data: null, atMs: NOW_MS, error: null }
  const location = { params, search: new URLSearchParams(search) }
  const html = renderHtml(h(FrameProvider, { value }, h(ScreenContent, { screen, location, results, board } as never)))
  const text = html
    .replace(/<title>[^<]*<\/title>|<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/ ([.,:])/g, '$1')
  return { html, text }
}

/** The answer of a list with one page. */
export const buildList = (data: readonly unknown[], total = data.length, page = 1) => ({
  data,
  meta: { page, per_page: 25, total, total_pages: Math.ceil(total / 25) },
})
