import type { PageView } from '../../core/types.ts'

/** The fields of the form. `chosen` null: all components. */
export type SubscriptionForm = { email: string; webhook: string; chosen: string[] | null }

export const EMPTY_FORM: SubscriptionForm = { email: '', webhook: '', chosen: null }

/** Longer than any valid address. */
const MAX_FIELD_LENGTH = 2_100

/** Parses a form as browsers send it. Unknown fields are ignored. */
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

export const NO_COMPONENT = 'Choose at least one component.'

/** The chosen components that are on the page now, null for all, or a problem. */
export function parseComponentChoice(
  view: PageView,
  chosen: string[] | null,
): { componentIds: string[] | null } | { problem: string } {
  if (chosen === null) return { componentIds: null }
  const componentIds = listViewComponents(view)
    .map(component => component.id)
    .filter(id => chosen.includes(id))
  return componentIds.length > 0 ? { componentIds } : { problem: NO_COMPONENT }
}

/** True for the body of a one-click unsubscription by a mail program (RFC 8058), in both encodings. */
export const isOneClickUnsubscribe = (body: string): boolean => /\bList-Unsubscribe(=|"\s+)One-Click\b/.test(body)

export const listViewComponents = (view: PageView) =>
  view.sections.flatMap(section => (section.kind === 'group' ? section.group.components : section.component))
