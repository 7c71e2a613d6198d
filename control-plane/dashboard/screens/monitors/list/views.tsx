import type { ComponentType } from 'preact'
import { useState } from 'preact/hooks'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import type { OperationResponse } from '../../../core/operations.ts'
import type { Result } from '../../../core/screen.ts'
import { Failure } from '../../../parts/layout/states.tsx'
import { buildQueryAddress, parseText } from './list-search.ts'
import type { View, ViewOptions } from './view-dialog.tsx'

/** The saved filters as links, and what can be done with the current one. */
export function Views({ result, search }: { result: Result<OperationResponse<'listViews'>>; search: URLSearchParams }) {
  const { me, isInteractive } = useFrame()
  const [opened, open] = useState<{ Dialog: ComponentType<ViewOptions>; view: View | null } | null>(null)
  if (result.data === null) return <Failure result={result} what="The views" />
  const { data: views, meta } = result.data
  const query = parseText(search).trim()
  const current = views.find(view => view.query === query) ?? null
  const show = (view: View | null) =>
    // a page that has lost its server stays as it is
    import('./view-dialog.tsx').then(
      ({ ViewDialog }) => open({ Dialog: ViewDialog, view }),
      () => {},
    )
  if (views.length === 0 && query === '' && !result.error) return null
  return (
    <div class="views small">
      <Failure result={result} what="The views" />
      {views.length > 0 && (
        <nav aria-label="Views">
          {views.map(view => (
            <a
              key={view.id}
              href={buildQueryAddress(search, view.query)}
              aria-current={view === current ? 'true' : undefined}
              dir="auto"
            >
              {view.name}
            </a>
          ))}
          {meta.total > views.length && <span class="soft">and {meta.total - views.length} more with the API</span>}
        </nav>
      )}
      {query !== '' && !current && (
        <button type="button" class="plain" disabled={!isInteractive} onClick={() => show(null)}>
          Save as view
        </button>
      )}
      {current && (canWrite(me) || !current.is_shared) && (
        <button type="button" class="plain" disabled={!isInteractive} onClick={() => show(current)}>
          Edit view
        </button>
      )}
      {opened && <opened.Dialog view={opened.view} query={query} onClose={() => open(null)} />}
    </div>
  )
}
