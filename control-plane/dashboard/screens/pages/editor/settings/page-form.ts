import type { TemplateName } from '../../../../../pages/core/types.ts'
import type { OperationArguments, OperationResponse } from '../../../../core/operations.ts'
import type { FieldProblem } from '../../../../parts/forms/field-errors.ts'

export type PageRecord = OperationResponse<'readStatusPage'>['data']
type PageSettings = NonNullable<OperationArguments<'updateStatusPage'>['body']>

/** The settings of a page while they are edited, under the names of the API. Empty texts are null in the API. */
export type PageDraft = {
  name: string
  template: TemplateName
  brand_color: string
  show_response_times: boolean
  show_uptime_percentage: boolean
  seo_title: string
  seo_description: string
  logo_url: string
  favicon_url: string
  custom_css: string
}

export const SHOWN_FIELDS = [
  ...['name', 'template', 'brand_color', 'show_response_times', 'show_uptime_percentage'],
  ...['seo_title', 'seo_description', 'logo_url', 'favicon_url', 'custom_css'],
]

const NULLABLE = ['seo_title', 'seo_description', 'logo_url', 'favicon_url', 'custom_css'] as const

export const toPageForm = (page: PageRecord): PageDraft => ({
  name: page.name,
  template: page.template,
  brand_color: page.brand_color,
  show_response_times: page.show_response_times,
  show_uptime_percentage: page.show_uptime_percentage,
  seo_title: page.seo_title ?? '',
  seo_description: page.seo_description ?? '',
  logo_url: page.logo_url ?? '',
  favicon_url: page.favicon_url ?? '',
  custom_css: page.custom_css ?? '',
})

/** The body of an update: the fields that differ from the record; null without any. */
export function toPageUpdate(page: PageRecord, form: PageDraft): PageSettings | null {
  const stored = toPageForm(page)
  const names = (Object.keys(stored) as (keyof PageDraft)[]).filter(name => stored[name] !== form[name])
  if (names.length === 0) return null
  const toValue = (name: keyof PageDraft) =>
    form[name] === '' && (NULLABLE as readonly string[]).includes(name) ? null : form[name]
  return Object.fromEntries(names.map(name => [name, toValue(name)])) as PageSettings
}

export const isColor = (text: string): boolean => /^#[0-9a-f]{6}$/i.test(text)

/** What the API would refuse, before it is sent. */
export function findPageProblems(form: PageDraft): FieldProblem[] {
  const problems: FieldProblem[] = []
  if (form.name.trim() === '') problems.push({ path: 'name', message: 'name is required' })
  if (!isColor(form.brand_color))
    problems.push({ path: 'brand_color', message: 'brand_color must be # and six hexadecimal digits, such as #2563eb' })
  return problems
}
