import type { FieldProblem } from '../../../parts/forms/field-errors.ts'

const MAX_SLUG = 50

/** The address of a page, from its name: `Ähnliche Dienste` as `ahnliche-dienste`. Empty without letters and digits of ASCII. */
export const proposeSlug = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG)
    .replace(/^-+|-+$/g, '')

export const isSlug = (text: string): boolean => /^[a-z0-9-]{1,50}$/.test(text)

/** What the API would refuse, in its words. */
export function findNewPageProblems({ name, slug }: { name: string; slug: string }): FieldProblem[] {
  const problems: FieldProblem[] = []
  if (name === '') problems.push({ path: 'name', message: 'name is required' })
  if (!isSlug(slug)) {
    const message = 'slug must have 1 to 50 of the characters a to z, 0 to 9 and -'
    problems.push({ path: 'slug', message })
  }
  return problems
}
