import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { NeedsScript } from '../../../parts/calls/as-call.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import { Loaded } from '../../../parts/layout/states.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { PageTabs } from '../page-tabs.tsx'
import { ItemList } from './components/item-list.tsx'
import { PreviewPart } from './preview/preview-part.tsx'
import { usePagePreview } from './preview/use-preview.ts'
import { DeletePage, type PageCounts, Publication } from './publication.tsx'
import { type PageRecord, toPageForm, toPageUpdate } from './settings/page-form.ts'
import { SettingsForm } from './settings/settings-form.tsx'

/** `/pages/:id`: what the page looks like, and what is on it. */
export const pageEditorScreen = screen({
  path: '/pages/:id',
  area: 'pages',
  record: 'page',
  queries: ({ params: { id = '' } }) => ({
    page: read('readStatusPage', { path: { id } }),
    components: read('listStatusPageComponents', { path: { id } }),
    groups: read('listStatusPageGroups', { path: { id }, query: { per_page: 100 } }),
    subscribers: read('listStatusPageSubscribers', { path: { id }, query: { per_page: 1 } }),
  }),
  title: ({ results }) => results.page.data!.data.name,
  Body: ({ results }) => {
    const page = results.page.data!.data
    const items = { components: results.components.data?.data ?? [], groups: results.groups.data?.data ?? [] }
    // the preview is read again when anything that it shows has changed
    const revision = JSON.stringify([
      ...[page.logo_url, page.favicon_url, page.updated_at],
      ...[...items.components, ...items.groups].map(one => [one.id, one.updated_at, 'status' in one && one.status]),
    ])
    return (
      <>
        <p class="trail">
          <a href="/pages">Status pages</a>
        </p>
        <h1 dir="auto">{page.name}</h1>
        <PageTabs id={page.id} current="Editor" />
        <NeedsScript
          what="Changing a status page"
          call={call('updateStatusPage', { path: { id: page.id }, body: { is_published: true } })}
        />
        <NeedsRole what="Changing the page" needed="editor" />
        <Editor
          key={page.id}
          page={page}
          revision={revision}
          counts={{
            groups: results.groups.data?.meta.total ?? null,
            subscribers: results.subscribers.data?.meta.total ?? null,
          }}
        >
          <Section id="components" title="Components">
            <Loaded result={results.groups} what="The groups">
              {({ data: groups }) => (
                <Loaded result={results.components} what="The components">
                  {({ data: components }) => <ItemList pageId={page.id} components={components} groups={groups} />}
                </Loaded>
              )}
            </Loaded>
          </Section>
        </Editor>
      </>
    )
  },
})

/** The form and the preview share what is typed. `children`: what is on the page. */
function Editor({
  page,
  revision,
  counts,
  children,
}: {
  page: PageRecord
  revision: string
  counts: PageCounts
  children: ComponentChildren
}) {
  const { me } = useFrame()
  const [form, setForm] = useState(() => toPageForm(page))
  const judgement = usePagePreview(page.id, form.custom_css, revision)
  return (
    <>
      <Publication page={page} hasChanges={toPageUpdate(page, form) !== null} />
      <div class="page-editor">
        <div>
          <SettingsForm page={page} form={form} setForm={setForm} judgement={judgement} />
          {children}
          {canWrite(me) && <DeletePage page={page} counts={counts} />}
        </div>
        <PreviewPart form={form} judgement={judgement} isPublished={page.is_published} />
      </div>
    </>
  )
}
