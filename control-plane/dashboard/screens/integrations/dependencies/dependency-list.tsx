import { buildAddress, parsePage } from '../../../core/address.ts'
import { formatCount } from '../../../core/format.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { AreaTabs } from '../../../parts/layout/area-tabs.tsx'
import { Pager } from '../../../parts/layout/pager.tsx'
import { Empty, Loaded } from '../../../parts/layout/states.tsx'
import { Ago } from '../../../parts/moment.tsx'
import { Status } from '../../../parts/status.tsx'
import { type DependencyRecord, toShownStatus } from './dependency-words.ts'

const PATH = '/dependencies'

/** `/dependencies`: the vendors that the project depends on, and whether they work. */
export const dependencyListScreen = screen({
  path: PATH,
  area: 'monitors',
  queries: ({ search }) => ({
    dependencies: read('listDependencies', { query: { per_page: 100, page: parsePage(search) } }),
  }),
  title: () => 'Dependencies',
  Body: ({ results }) => {
    const { me } = useFrame()
    const add = canWrite(me) && (
      <a class="button main" href="/dependencies/new">
        Add a dependency
      </a>
    )
    return (
      <>
        <div class="screen-head">
          <h1>Dependencies</h1>
          {add}
        </div>
        <AreaTabs area="monitors" current={PATH} />
        <Loaded result={results.dependencies} what="The dependencies">
          {({ data, meta }) =>
            meta.total === 0 ? (
              <Empty text="There is no dependency. Track the vendors that you rely on to see their incidents next to yours.">
                {add}
              </Empty>
            ) : (
              <>
                <DependencyTable dependencies={data} />
                <Pager meta={meta} what="dependencies" buildPath={page => buildAddress(PATH, { page })} />
              </>
            )
          }
        </Loaded>
      </>
    )
  },
})

const DependencyTable = ({ dependencies }: { dependencies: readonly DependencyRecord[] }) => (
  <table class="rows sources">
    <thead>
      <tr>
        <th scope="col">Status</th>
        <th scope="col">Vendor</th>
        <th scope="col">Incidents</th>
        <th scope="col">Last read</th>
      </tr>
    </thead>
    <tbody>
      {dependencies.map(dependency => (
        <tr key={dependency.id}>
          <td class="nowrap">
            <Status status={toShownStatus(dependency.status)} />
          </td>
          <td>
            <a class="row" href={`${PATH}/${dependency.id}`} dir="auto">
              {dependency.name}
            </a>
            <span class="soft small" dir="auto">
              {dependency.components.join(', ') || dependency.status_url}
            </span>
            {dependency.last_error !== null && (
              <p class="degraded small" dir="auto">
                The feed cannot be read: {dependency.last_error}.
              </p>
            )}
          </td>
          <td class="nowrap">
            {dependency.open_incidents === 0
              ? 'none open'
              : `${formatCount(dependency.open_incidents, 'incident')} open`}
          </td>
          <td class="nowrap labelled" data-label="Last read">
            {dependency.last_checked_at ? <Ago at={dependency.last_checked_at} /> : 'never'}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)
