import type { ComponentProps } from 'preact'
import type { OperationResponse } from '../../../core/operations.ts'
import { PageTabs } from '../page-tabs.tsx'

export type StatusPageRecord = OperationResponse<'readStatusPage'>['data']

/** The head of each page about a status page. */
export const PageHead = ({
  page,
  current,
}: {
  page: StatusPageRecord
  current: ComponentProps<typeof PageTabs>['current']
}) => (
  <>
    <p class="trail">
      <a href="/pages">Status pages</a>
    </p>
    <h1 dir="auto">{page.name}</h1>
    <PageTabs id={page.id} current={current} />
    {!page.is_published && (
      <p class="missing">
        This page is not published: visitors get "not found" at all of its addresses.{' '}
        <a href={`/pages/${page.id}`}>Publish it in the editor</a>
      </p>
    )}
  </>
)
