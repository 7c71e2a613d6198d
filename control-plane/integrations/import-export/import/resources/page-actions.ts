import { conflict } from '../../../../foundation/web/server/errors.ts'
import { changePage, createPage } from '../../../../pages/admin/page-actions.ts'
import type { StoredPage } from '../../../../pages/core/records.ts'
import { describeNewFields, diffFields, omitDefaults } from '../../fields/fields.ts'
import { PAGE_DEFAULTS, toPageFields, toStoredPageFields } from '../../fields/page-fields.ts'
import type { PageEntry } from '../../file/project-file.ts'
import type { ResolveReference } from '../../file/references.ts'
import { attempt, recordUpdate } from '../import-report.ts'
import type { ImportRun } from '../import-run.ts'
import { listUnmatched, matchBy, matchEntries } from '../matching.ts'
import { importPageSections, type UnnamedSections } from './section-actions.ts'

const RESOURCE = 'status_page'
const bySlug = matchBy('slug')

/** Status pages, groups and components that the file does not name. */
export type UnnamedPages = { pages: StoredPage[]; sections: UnnamedSections[] }

/** Imports status pages with their groups and components. */
export async function importPages(run: ImportRun, findMonitor: ResolveReference): Promise<UnnamedPages> {
  const { file, state, report } = run
  const pages = state.pages.map(({ page }) => page)
  const entries = file.status_pages ?? []
  const found = matchEntries(entries, pages, bySlug)
  const sections: UnnamedSections[] = []
  for (const [index, entry] of entries.entries()) {
    const place = `status_pages[${index}]`
    const stored = found[index] ?? null
    const id = await attempt(report, place, () => (stored ? update(run, entry, stored) : add(run, entry)))
    if (id === null || entry.components === undefined) continue
    const pageState = state.pages.find(({ page }) => page.id === id) ?? null
    sections.push(await importPageSections(run, { entry, place, id, pageState, findMonitor }))
  }
  return { pages: file.status_pages ? listUnmatched(pages, found) : [], sections }
}

async function add({ tools, caller, report, now }: ImportRun, entry: PageEntry): Promise<string> {
  const { name, slug, template, brand_color } = entry
  const page = await createPage(tools, caller, { name, slug, template, brand_color }, now)
  const { slug: _, ...body } = toPageFields(entry, null, tools.publicUrl)
  await changePage(tools, caller.projectId, page.id, body, now)
  const fields = describeNewFields(omitDefaults({ slug, ...body }, PAGE_DEFAULTS))
  report.changes.push({ action: 'create', resource: RESOURCE, key: slug, id: null, fields })
  return page.id
}

async function update({ tools, caller, report, now }: ImportRun, entry: PageEntry, page: StoredPage): Promise<string> {
  if (entry.slug !== page.slug) throw conflict(`the slug of a status page cannot be changed (it is "${page.slug}")`)
  const { slug, ...body } = toPageFields(entry, page, tools.publicUrl)
  const fields = diffFields(toStoredPageFields(page), body, unmasked => unmasked)
  if (recordUpdate(report, { resource: RESOURCE, key: slug as string, id: page.id, fields })) {
    await changePage(tools, caller.projectId, page.id, body, now)
  }
  return page.id
}
