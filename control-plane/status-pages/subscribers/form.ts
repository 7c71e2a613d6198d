import type { PageView } from '../types.ts'

/** What somebody filled in. `chosen` null: everything. */
export type Form = { email: string; webhook: string; chosen: string[] | null }

export const EMPTY_FORM: Form = { email: '', webhook: '', chosen: null }

/** Longer than any address. */
const FIELD_LIMIT = 2_100

/** Reads a form as browsers send it; fields that it does not know are nobody's. */
export function readForm(body: string): Form & { action: string } {
  const fields = new URLSearchParams(body)
  const text = (name: string) => (fields.get(name) ?? '').slice(0, FIELD_LIMIT)
  const isSome = fields.get('scope') === 'some'
  return {
    email: text('email'),
    webhook: text('webhook'),
    chosen: isSome ? fields.getAll('component') : null,
    action: text('action'),
  }
}

/** What was chosen of what stands on the page now, null for all of it, or what is wrong with it. */
export function readChoice(
  view: PageView,
  chosen: string[] | null,
): { componentIds: string[] | null } | { problem: string } {
  if (chosen === null) return { componentIds: null }
  const componentIds = componentsOf(view)
    .map(component => component.id)
    .filter(id => chosen.includes(id))
  return componentIds.length > 0 ? { componentIds } : { problem: 'Choose at least one component.' }
}

/** True for the body with which mail programs end a subscription at one click (RFC 8058), in either of its forms. */
export const isOneClick = (body: string): boolean => /\bList-Unsubscribe(=|"\s+)One-Click\b/.test(body)

export const componentsOf = (view: PageView) =>
  view.sections.flatMap(section => (section.kind === 'group' ? section.group.components : section.component))
