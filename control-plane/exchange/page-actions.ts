import { changePage, createPage } from '../status-pages/page-actions.ts'
import type { StoredPage } from '../status-pages/records.ts'
import { conflict } from '../web/errors.ts'
import type { PageEntry } from './document.ts'
import { concise, differences, newFields } from './fields.ts'
import { attempt, noteUpdate } from './ledger.ts'
import type { Find } from './names.ts'
import { PAGE_DEFAULTS, pageFields, storedPageFields } from './page-fields.ts'
import { pairs, sameText, unpaired } from './pairs.ts'
import type { Run } from './run.ts'
import { importSections, type Sections } from './section-actions.ts'

const RESOURCE = 'status_page'
const bySlug = sameText('slug')

/** Of the project, and not of the file. */
export type UnnamedPages = { pages: StoredPage[]; sections: Sections[] }

/** The status pages of the file with what stands on them. */
export async function importPages(run: Run, findMonitor: Find): Promise<UnnamedPages> {
  const { file, state, ledger } = run
  const pages = state.pages.map(({ page }) => page)
  const entries = file.status_pages ?? []
  const found = pairs(entries, pages, bySlug)
  const sections: Sections[] = []
  for (const [index, entry] of entries.entries()) {
    const place = `status_pages[${index}]`
    const stored = found[index] ?? null
    const id = await attempt(ledger, place, () => (stored ? update(run, entry, stored) : add(run, entry)))
    if (id === null || entry.components === undefined) continue
    const whole = state.pages.find(({ page }) => page.id === id) ?? null
    sections.push(await importSections(run, { entry, place, id, whole, findMonitor }))
  }
  return { pages: file.status_pages ? unpaired(pages, found) : [], sections }
}

async function add({ tools, caller, ledger, now }: Run, entry: PageEntry): Promise<string> {
  const { name, slug, template, brand_color } = entry
  const page = await createPage(tools, caller, { name, slug, template, brand_color }, now)
  const { slug: _, ...body } = pageFields(entry, null, tools.publicUrl)
  await changePage(tools, caller.projectId, page.id, body, now)
  const fields = newFields(concise({ slug, ...body }, PAGE_DEFAULTS))
  ledger.changes.push({ action: 'create', resource: RESOURCE, key: slug, id: null, fields })
  return page.id
}

async function update({ tools, caller, ledger, now }: Run, entry: PageEntry, page: StoredPage): Promise<string> {
  if (entry.slug !== page.slug) throw conflict(`the slug of a status page stays what it is: "${page.slug}"`)
  const { slug, ...body } = pageFields(entry, page, tools.publicUrl)
  const fields = differences(storedPageFields(page), body, asIs => asIs)
  if (noteUpdate(ledger, { resource: RESOURCE, key: slug as string, id: page.id, fields })) {
    await changePage(tools, caller.projectId, page.id, body, now)
  }
  return page.id
}
