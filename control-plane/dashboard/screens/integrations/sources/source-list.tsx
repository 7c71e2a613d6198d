import { buildAddress, parsePage } from '../../../core/address.ts'
import { formatCount } from '../../../core/format.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { AreaTabs } from '../../../parts/layout/area-tabs.tsx'
import { Pager } from '../../../parts/layout/pager.tsx'
import { Empty, Loaded } from '../../../parts/layout/states.tsx'
import { Ago } from '../../../parts/moment.tsx'
import type { SourceRecord } from './form/source-form.ts'
import { describeSource } from './source-words.ts'

const PATH = '/sources'

/** `/sources`: the documents that are fetched, whether that works, and how many monitors they make. */
export const sourceListScreen = screen({
  path: PATH,
  area: 'monitors',
  queries: ({ search }) => ({
    sources: read('listDataSources', { query: { per_page: 50, page: parsePage(search) } }),
  }),
  title: () => 'Data sources',
  Body: ({ results }) => {
    const { me } = useFrame()
    const add = (
      <a class="button main" href="/sources/new">
        New data source
      </a>
    )
    return (
      <>
        <div class="screen-head">
          <h1>Data sources</h1>
          {canWrite(me) && add}
        </div>
        <AreaTabs area="monitors" current={PATH} />
        <Loaded result={results.sources} what="The data sources">
          {({ data, meta }) =>
            meta.total === 0 ? (
              <Empty text="There is no data source. One JSON document can become up to 200 monitors.">
                {canWrite(me) && add}
              </Empty>
            ) : (
              <>
                <SourceTable sources={data} />
                <Pager meta={meta} what="data sources" buildPath={page => buildAddress(PATH, { page })} />
              </>
            )
          }
        </Loaded>
      </>
    )
  },
})

const SourceTable = ({ sources }: { sources: readonly SourceRecord[] }) => (
  <table class="rows sources">
    <thead>
      <tr>
        <th scope="col">State</th>
        <th scope="col">Data source</th>
        <th scope="col">Monitors</th>
        <th scope="col">Last fetch</th>
      </tr>
    </thead>
    <tbody>
      {sources.map(source => {
        const { state, text, problem } = describeSource(source)
        return (
          <tr key={source.id}>
            <td class={`nowrap ${state === 'failing' ? 'down' : state === 'partial' ? 'degraded' : 'soft'}`}>{text}</td>
            <td>
              <a class="row" href={`${PATH}/${source.id}`} dir="auto">
                {source.name}
              </a>
              <span class="soft small" dir="auto">
                {source.url}
              </span>
              {problem !== null && (
                <p class={state === 'failing' ? 'down small' : 'degraded small'} dir="auto">
                  {problem}.
                </p>
              )}
            </td>
            <td class="nowrap">{formatCount(source.child_monitor_count, 'monitor')}</td>
            <td class="nowrap labelled" data-label="Last fetch">
              {source.last_fetched_at ? <Ago at={source.last_fetched_at} /> : 'never'}
            </td>
          </tr>
        )
      })}
    </tbody>
  </table>
)
