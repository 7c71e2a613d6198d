import { CATEGORIES } from '../../../../integrations/vendors/dependencies/categories.ts'
import { buildAddress, parsePage } from '../../../core/address.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { type OperationResponse, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { useAttempt } from '../../../parts/forms/attempt.ts'
import { FilterChoice, FilterForm } from '../../../parts/forms/filter-form.tsx'
import { Pager } from '../../../parts/layout/pager.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import { Empty, Loaded } from '../../../parts/layout/states.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { CustomFeed } from './custom-feed.tsx'

const PATH = '/dependencies/new'

type CatalogEntry = OperationResponse<'listDependencyCatalog'>['data'][number]

const parseFilter = (search: URLSearchParams) => {
  const category = CATEGORIES.find(one => one === search.get('category'))
  return { q: search.get('q') ?? '', ...(category && { category }) }
}

/** `/dependencies/new`: the catalog, and addresses that it does not have. */
export const newDependencyScreen = screen({
  path: PATH,
  area: 'monitors',
  queries: ({ search }) => ({
    catalog: read('listDependencyCatalog', {
      query: { ...parseFilter(search), per_page: 24, page: parsePage(search) },
    }),
  }),
  title: () => 'Add a dependency',
  Body: ({ results, search }) => {
    const { me } = useFrame()
    const { q, category } = parseFilter(search)
    return (
      <>
        <p class="trail">
          <a href="/dependencies">Dependencies</a>
        </p>
        <h1>Add a dependency</h1>
        <NeedsRole what="Adding a dependency" needed="editor" />
        <Section id="catalog" title="Catalog">
          <FilterForm
            filter={`${q} ${category}`}
            path={PATH}
            what="vendors"
            isFiltered={q !== '' || category !== undefined}
          >
            <input
              type="search"
              name="q"
              aria-label="Name of a vendor"
              placeholder="Name of a vendor"
              defaultValue={q}
            />
            <FilterChoice
              name="category"
              label="Category"
              all="Any category"
              value={category ?? null}
              options={CATEGORIES.map(one => [one, one] as const)}
            />
          </FilterForm>
          <Loaded result={results.catalog} what="The catalog">
            {({ data, meta }) =>
              meta.total === 0 ? (
                <Empty text="No vendor of the catalog matches. Enter the address of its status page below." />
              ) : (
                <>
                  <ul class="list catalog">
                    {data.map(entry => (
                      <CatalogRow key={entry.slug} entry={entry} />
                    ))}
                  </ul>
                  <Pager meta={meta} what="vendors" buildPath={page => buildAddress(PATH, { q, category, page })} />
                </>
              )
            }
          </Loaded>
        </Section>
        {canWrite(me) && (
          <Section id="own" title="Another status page">
            <CustomFeed />
          </Section>
        )}
      </>
    )
  },
})

/** A vendor of the catalog, with the button that tracks it. */
function CatalogRow({ entry: { slug, name, category, dependency_id: trackedId } }: { entry: CatalogEntry }) {
  const { me, execute, navigate, isInteractive } = useFrame()
  const { isBusy, error, run } = useAttempt()
  const track = async () => {
    const created = await run(() => execute('createDependency', { body: { slug } }))
    if (created) navigate(`/dependencies/${created.data.id}`)
  }
  return (
    <li>
      <div class="channel">
        <div>
          <b dir="auto">{name}</b> <bdi class="soft small">{category}</bdi>
        </div>
        {trackedId !== null ? (
          <a href={`/dependencies/${trackedId}`}>
            Tracked <bdi class="hidden">{name}</bdi>
          </a>
        ) : (
          canWrite(me) && (
            <button type="button" disabled={isBusy || !isInteractive} onClick={track}>
              Track <bdi class="hidden">{name}</bdi>
            </button>
          )
        )}
      </div>
      {error && (
        <p class="wrong" role="alert">
          {error.message}.
        </p>
      )}
    </li>
  )
}
