import { useState } from 'preact/hooks'
import { buildAddress, parsePage } from '../../../core/address.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { call, type OperationResponse, read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { DeleteForm } from '../../../parts/forms/delete-form.tsx'
import { AreaTabs } from '../../../parts/layout/area-tabs.tsx'
import { Pager } from '../../../parts/layout/pager.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import { Empty, Loaded } from '../../../parts/layout/states.tsx'
import { Ago, Moment } from '../../../parts/moment.tsx'
import { hasRole, NeedsRole } from '../../../parts/needs-role.tsx'
import { NewKeyForm } from './new-key-form.tsx'

type Key = OperationResponse<'listApiKeys'>['data'][number]

const PATH = '/settings/keys'

/** `/settings/keys`: the API keys of the project, and new ones. */
export const keysScreen = screen({
  path: PATH,
  area: 'settings',
  queries: ({ search }) => ({
    keys: read('listApiKeys', { query: { per_page: 100, page: parsePage(search) } }),
    members: read('listMembers', { query: { per_page: 100 } }),
  }),
  title: () => 'API keys',
  Body: ({ results: { keys, members } }) => {
    const { me } = useFrame()
    const emails = new Map(members.data?.data.map(({ id, email }) => [id, email]))
    return (
      <>
        <h1>API keys</h1>
        <AreaTabs area="settings" current={PATH} />
        <NeedsRole what="Seeing, creating and deleting API keys" needed="admin" />
        {hasRole(me, 'admin') && (
          <>
            <Loaded result={keys} what="The API keys">
              {({ data, meta }) => (
                <>
                  {meta.total === 0 ? (
                    <Empty text="There is no API key. Programs need one to use the API." />
                  ) : (
                    <ul class="list channels">
                      {data.map(key => (
                        <KeyRow key={key.id} record={key} creator={emails.get(key.created_by ?? '') ?? null} />
                      ))}
                    </ul>
                  )}
                  <Pager meta={meta} what="API keys" buildPath={page => buildAddress(PATH, { page })} />
                </>
              )}
            </Loaded>
            <Section id="new" title="New API key">
              <NewKeyForm />
            </Section>
          </>
        )}
      </>
    )
  },
})

/** `creator`: the address of the member who created the key. */
function KeyRow({ record, creator }: { record: Key; creator: string | null }) {
  const { isInteractive, navigate } = useFrame()
  const [isDeleting, setDeleting] = useState(false)
  const { id, name, scope, hint, last_used_at: usedAt, suspended_at: suspendedAt } = record
  return (
    <li>
      <div class="channel">
        <div>
          <h2 dir="auto">{name}</h2>
          <p class="soft small">
            <code>{hint}</code>, scope {scope}, created <Moment at={record.created_at} part="date" />
            {creator !== null && (
              <>
                {' '}
                by <bdi>{creator}</bdi>
              </>
            )}
          </p>
          {suspendedAt !== null && (
            <p class="degraded small">
              Suspended: it is refused until an admin decides whether to keep it. <a href="/account/access">Decide</a>
            </p>
          )}
        </div>
        <div class="actions">
          <span class="soft small used">
            {usedAt === null ? (
              'never used'
            ) : (
              <>
                used <Ago at={usedAt} />
              </>
            )}
          </span>
          <button
            type="button"
            disabled={!isInteractive}
            aria-expanded={isDeleting}
            onClick={() => setDeleting(!isDeleting)}
          >
            Delete…
            <span class="hidden">
              {' '}
              <bdi>{name}</bdi>
            </span>
          </button>
        </div>
      </div>
      {isDeleting && (
        <div class="banner">
          <DeleteForm
            what="API key"
            name={name}
            consequences="Programs that use this key are refused within 5 seconds. This cannot be undone."
            call={call('deleteApiKey', { path: { id } })}
            onDone={() => navigate(PATH)}
          />
        </div>
      )}
    </li>
  )
}
