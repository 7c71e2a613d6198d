import { buildAddress, parsePage } from '../../../core/address.ts'
import { formatCount } from '../../../core/format.ts'
import { canWrite, useFrame } from '../../../core/frame-context.ts'
import { type OperationResponse, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { Pager } from '../../../parts/layout/pager.tsx'
import { Empty, Loaded } from '../../../parts/layout/states.tsx'
import { NeedsRole } from '../../../parts/needs-role.tsx'
import { PublicAddress } from '../public-address.tsx'
import { getTemplateName } from '../template-labels.ts'

const PATH = '/pages'

/** `/pages`: the status pages of the project. */
export const pageListScreen = screen({
  path: PATH,
  area: 'pages',
  queries: ({ search }) => ({
    pages: read('listStatusPages', { query: { per_page: 50, page: parsePage(search) } }),
  }),
  title: () => 'Status pages',
  Body: ({ results }) => {
    const { me } = useFrame()
    return (
      <>
        <div class="screen-head">
          <h1>Status pages</h1>
          {canWrite(me) && (
            <a class="button main" href="/pages/new">
              New status page
            </a>
          )}
        </div>
        <Loaded result={results.pages} what="The status pages">
          {({ data, meta }) => (
            <>
              {meta.total === 0 ? (
                <Empty text="There is no status page. It shows visitors which systems work, without an account.">
                  {canWrite(me) ? (
                    <a class="button" href="/pages/new">
                      Create the first one
                    </a>
                  ) : (
                    <NeedsRole what="Creating a status page" needed="editor" />
                  )}
                </Empty>
              ) : (
                <ul class="list status-pages">
                  {data.map(page => (
                    <PageRow key={page.id} page={page} />
                  ))}
                </ul>
              )}
              <Pager meta={meta} what="status pages" buildPath={page => buildAddress(PATH, { page })} />
            </>
          )}
        </Loaded>
      </>
    )
  },
})

type PageRecord = OperationResponse<'listStatusPages'>['data'][number]

const PageRow = ({ page }: { page: PageRecord }) => (
  <li>
    <div>
      <h2>
        <a href={`${PATH}/${page.id}`} dir="auto">
          {page.name}
        </a>
      </h2>
      <p class="soft small">
        {formatCount(page.component_count, 'component')}, template <bdi>{getTemplateName(page.template)}</bdi>
      </p>
    </div>
    <p class={page.is_published ? 'small' : 'small soft'}>
      <PublicAddress url={page.public_url} isPublished={page.is_published} />
    </p>
    <p class={page.is_published ? 'publication' : 'publication soft'}>
      {page.is_published ? 'Published' : 'Not published'}
    </p>
  </li>
)
