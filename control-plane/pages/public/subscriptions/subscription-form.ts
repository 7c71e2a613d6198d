import type { PageView } from '../../core/types.ts'

/** What somebody filled in. `chosen` null: everything. */
export type SubscriptionForm = { email: string; webhook: string; chosen: string[] | null }

export const EMPTY_FORM: SubscriptionForm = { email: '', webhook: '', chosen: null }

/** Longer than any address. */
const MAX_FIELD_LENGTH = 2_100

/** Reads a form as browsers send it; fields that it does not know are nobody's. */
export function parseForm(body: string): SubscriptionForm & { action: string } {
  const fields = new URLSearchParams(body)
  const text = (name: string) => (fields.get(name) ?? '').slice(0, MAX_FIELD_LENGTH)
  const isSome = fields.get('scope') === 'some'
  return {
    email: text('email'),
    webhook: text('webhook'),
    chosen: isSome ? fields.getAll('component') : null,
    action: text('action'),
  }
}

/** What was chosen of what stands on the page now, null for all of it, or what is wrong with it. */
export function parseComponentChoice(
  view: PageView,
  chosen: string[] | null,
): { componentIds: string[] | null } | { problem: string } {
  if (chosen === null) return { componentIds: null }
  const componentIds = listViewComponents(view)
    .map(component => component.id)
    .filter(id => chosen.includes(id))
  return componentIds.length > 0 ? { componentIds } : { problem: 'Choose at least one component.' }
}

/** True for the body with which mail programs end a subscription at one click (RFC 8058), in either of its forms. */
export const isOneClickUnsubscribe = (body: string): boolean => /\bList-Unsubscribe(=|"\s+)One-Click\b/.test(body)

export const listViewComponents = (view: PageView) =>
  view.sections.flatMap(section => (section.kind === 'group' ? section.group.components : section.component))
