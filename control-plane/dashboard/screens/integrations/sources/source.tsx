import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { call, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { NeedsScript } from '../../../parts/calls/as-call.tsx'
import { Ago } from '../../../parts/moment.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { SourceEditor } from './form/editor.tsx'
import type { SourceRecord } from './form/source-form.ts'
import { PublishSection } from './publish-section.tsx'
import { DeleteSection, PauseSection, RefreshButton } from './source-operations.tsx'
import { describeSource } from './source-words.ts'

/** `/sources/:id` */
export const sourceScreen = screen({
  path: '/sources/:id',
  area: 'monitors',
  record: 'source',
  queries: ({ params: { id = '' } }) => ({
    source: read('readDataSource', { path: { id } }),
    pages: read('listStatusPages', { query: { per_page: 100 } }),
  }),
  title: ({ results }) => results.source.data!.data.name,
  Body: ({ results }) => {
    const { me } = useFrame()
    const source = results.source.data!.data
    return (
      <>
        <p class="trail">
          <a href="/sources">Data sources</a>
        </p>
        <div class="screen-head">
          <div>
            <h1 dir="auto">{source.name}</h1>
            <SourceCondition source={source} />
          </div>
          {canWrite(me) && !source.is_paused && <RefreshButton source={source} />}
        </div>
        <NeedsRole what="Changing the data source" needed="editor" />
        <NeedsScript
          what="Changing a data source"
          call={call('updateDataSource', { path: { id: source.id }, body: { fetch_interval_s: 300 } })}
        />
        <SourceEditor key={source.id} source={source} />
        {canWrite(me) && (
          <>
            <PublishSection source={source} pages={results.pages} />
            <PauseSection source={source} />
            <DeleteSection source={source} />
          </>
        )}
      </>
    )
  },
})

/** Whether the document is fetched, when, and what is wrong. */
function SourceCondition({ source }: { source: SourceRecord }) {
  const { state, text, problem } = describeSource(source)
  return (
    <>
      <p class="figures-line">
        <span class={state === 'failing' ? 'down' : state === 'partial' ? 'degraded' : 'soft'}>{text}</span>
        {source.last_fetched_at && (
          <span class="soft">
            last fetch <Ago at={source.last_fetched_at} />
          </span>
        )}
        {state === 'failing' && source.last_success_at && (
          <span class="soft">
            last success <Ago at={source.last_success_at} />
          </span>
        )}
      </p>
      {state === 'paused' && (
        <p>The document is not fetched. The monitors have no status until the source is resumed.</p>
      )}
      {problem !== null && (
        <p class={state === 'failing' ? 'down' : 'degraded'} dir="auto">
          {problem}.
        </p>
      )}
    </>
  )
}
