import { useState } from 'preact/hooks'
import { useFrame } from '../../../core/frame-context.ts'
import { call, type OperationResponse, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { DeleteForm } from '../../../parts/forms/delete-form.tsx'
import { AreaTabs } from '../../../parts/layout/area-tabs.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import { Empty, Loaded } from '../../../parts/layout/states.tsx'
import { Ago, Moment } from '../../../parts/moment.tsx'
import { hasRole, NeedsRole } from '../../../parts/needs-role.tsx'
import { NewWallLinkForm } from './new-wall-link-form.tsx'

type WallLink = OperationResponse<'listWallLinks'>['data'][number]

const PATH = '/settings/wall'

/** `/settings/wall`: the links that show monitors on a television without a session. */
export const wallLinksScreen = screen({
  path: PATH,
  area: 'settings',
  queries: () => ({ links: read('listWallLinks', { query: { per_page: 100 } }) }),
  title: () => 'Wallboard',
  Body: ({ results: { links } }) => {
    const { me } = useFrame()
    return (
      <>
        <h1>Wallboard</h1>
        <AreaTabs area="settings" current={PATH} />
        <p class="spaced">
          A wallboard shows all monitors of a query on one screen, such as a television. Anyone with its link sees the
          tags, and the names and causes of monitors that fail. It has no addresses, and nothing can be changed with it.
        </p>
        <NeedsRole what="Creating and revoking links" needed="editor" />
        <Loaded result={links} what="The links">
          {({ data }) =>
            data.length === 0 ? (
              <Empty text="There is no link to a wallboard yet." />
            ) : (
              <ul class="list channels">
                {data.map(link => (
                  <LinkRow key={link.id} link={link} />
                ))}
              </ul>
            )
          }
        </Loaded>
        {hasRole(me, 'editor') && (
          <Section id="new" title="New link">
            <NewWallLinkForm />
          </Section>
        )}
      </>
    )
  },
})

function LinkRow({ link: { id, name, query, last_used_at: usedAt, created_at: createdAt } }: { link: WallLink }) {
  const { me, isInteractive, navigate } = useFrame()
  const [isRevoking, setRevoking] = useState(false)
  return (
    <li>
      <div class="channel">
        <div>
          <h2 dir="auto">{name}</h2>
          <p class="soft small">
            {query === '' ? 'All monitors' : <code>{query}</code>}, created <Moment at={createdAt} part="date" />
          </p>
        </div>
        <div class="actions">
          <span class="soft small used">
            {usedAt === null ? (
              'never opened'
            ) : (
              <>
                read <Ago at={usedAt} />
              </>
            )}
          </span>
          {hasRole(me, 'editor') && (
            <button
              type="button"
              disabled={!isInteractive}
              aria-expanded={isRevoking}
              onClick={() => setRevoking(!isRevoking)}
            >
              Revoke…
              <span class="hidden">
                {' '}
                <bdi>{name}</bdi>
              </span>
            </button>
          )}
        </div>
      </div>
      {isRevoking && (
        <div class="banner">
          <DeleteForm
            what="link"
            name={name}
            verb="revoke"
            consequences="Within 15 seconds, screens that show this link say that the page does not exist. The link cannot be used again."
            call={call('deleteWallLink', { path: { id } })}
            onDone={() => navigate(PATH)}
          />
        </div>
      )}
    </li>
  )
}
