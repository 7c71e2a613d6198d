import { formatCount } from '../../../core/format.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call } from '../../../core/operations.ts'
import { AsCall } from '../../../parts/calls/as-call.tsx'
import { useAttempt } from '../../../parts/forms/attempt.ts'
import { DeleteForm } from '../../../parts/forms/delete-form.tsx'
import { FormError } from '../../../parts/forms/operation-form.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import { PublicAddress } from '../public-address.tsx'
import type { PageRecord } from './settings/page-form.ts'

/** Whether visitors see the page, and what a change of that means for them. */
export function Publication({ page, hasChanges }: { page: PageRecord; hasChanges: boolean }) {
  const { me, execute, isInteractive } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const { is_published: isPublished, public_url: url } = page
  const publishing = call('updateStatusPage', { path: { id: page.id }, body: { is_published: !isPublished } })
  const change = () => run(() => execute(publishing.name, publishing.arguments))
  return (
    <div class="publication-part">
      <p>
        {isPublished ? (
          <>
            <b>Published.</b> Every visitor of <PublicAddress url={url} isPublished /> sees this page. When it is
            unpublished, visitors get “not found”, feeds and badges stop, and notices that wait are not sent.
          </>
        ) : (
          <>
            <b>Not published.</b> Visitors of <bdi>{url}</bdi> get “not found”. When it is published, every visitor sees{' '}
            {describeContent(page)}.
          </>
        )}
      </p>
      {canWrite(me) && (
        <button
          type="button"
          class={isPublished ? undefined : 'main'}
          disabled={isBusy || !isInteractive}
          onClick={change}
        >
          {isPublished ? 'Unpublish' : 'Publish'}
        </button>
      )}
      {hasChanges && <p class="soft small">Changes that are not saved yet are not part of it.</p>}
      <FormError error={error} />
      {canWrite(me) && <AsCall call={publishing} />}
    </div>
  )
}

const describeContent = ({ component_count: count, show_uptime_percentage: hasUptime }: PageRecord): string =>
  count === 0
    ? 'its name and no component yet'
    : `${formatCount(count, 'component')}, ${hasUptime ? '90 days of uptime, ' : ''}incidents and planned maintenance`

/** What is on a page and who follows it; null for what could not be read. */
export type PageCounts = { groups: number | null; subscribers: number | null }

/** The sentence that lists what is deleted with a page, with the numbers that are known. */
export function describePageDeletion(page: PageRecord, { groups, subscribers }: PageCounts): string {
  const parts = [
    formatCount(page.component_count, 'component'),
    groups === null ? 'groups' : formatCount(groups, 'group'),
    'images',
  ]
  const last = subscribers === null ? 'subscribers' : formatCount(subscribers, 'subscriber')
  return `${page.is_published ? 'Visitors get “not found”. ' : ''}Its ${parts.join(', ')} and ${last} are deleted too; monitors and incidents stay. This cannot be undone.`
}

export function DeletePage({ page, counts }: { page: PageRecord; counts: PageCounts }) {
  const { navigate } = useFrame()
  return (
    <Section id="delete" title="Delete">
      <DeleteForm
        what="page"
        name={page.name}
        consequences={describePageDeletion(page, counts)}
        call={call('deleteStatusPage', { path: { id: page.id } })}
        onDone={() => navigate('/pages')}
      />
    </Section>
  )
}
