import type { TemplateName } from '../../../pages/core/types.ts'

/** What each template is for. */
const TEMPLATE_LABELS: Record<TemplateName, { name: string; description: string }> = {
  minimal: { name: 'Minimal', description: 'one narrow column' },
  brand: { name: 'Brand', description: 'a large head in your colour' },
  terminal: { name: 'Terminal', description: 'text in one width' },
  modern: { name: 'Modern', description: 'cards in columns' },
  clean: { name: 'Clean', description: 'a dense table' },
  developer: { name: 'Developer', description: 'a side bar, ids and API addresses' },
}

/** Its own name for a template of a newer version. */
export const getTemplateName = (template: string): string =>
  (TEMPLATE_LABELS as Record<string, { name: string } | undefined>)[template]?.name ?? template

export const TEMPLATE_OPTIONS = Object.entries(TEMPLATE_LABELS).map(
  ([value, { name, description }]) => [value as TemplateName, `${name}: ${description}`] as const,
)
