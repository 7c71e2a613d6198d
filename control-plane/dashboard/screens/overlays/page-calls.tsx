import { findPageEntry } from '../../core/api-call/project-entry.ts'
import { useFrame } from '../../core/frame-context.ts'
import { useCallTexts } from '../../parts/calls/as-call.tsx'
import { Dialog } from './dialog.tsx'

/** What the page reads, as calls of the API. */
export function PageCalls({ onClose }: { onClose(): void }) {
  const { page } = useFrame()
  const Texts = useCallTexts()
  return (
    <Dialog id="page-calls" title="API calls of this page" onClose={onClose}>
      {page && Object.keys(page.queries).length > 0 ? (
        Texts && <Texts calls={page.queries} entry={findPageEntry(page.screen, page.queries)} />
      ) : (
        <p>This page reads no records. Its form shows the call that it sends.</p>
      )}
      <p class="soft small">
        <code>PICKET_URL</code> is the address of this installation, <code>PICKET_API_KEY</code> a{' '}
        <a href="/settings/keys">key of your organization</a>.
      </p>
      <div class="actions">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}
