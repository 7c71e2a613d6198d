import { buildAddress, parsePage } from '../../../core/address.ts'
import { useFrame } from '../../../core/frame-context.ts'
import { read } from '../../../core/operations.ts'
import { screen } from '../../../core/screen.ts'
import { AreaTabs } from '../../../parts/layout/area-tabs.tsx'
import { Pager } from '../../../parts/layout/pager.tsx'
import { Section } from '../../../parts/layout/section.tsx'
import { Loaded } from '../../../parts/layout/states.tsx'
import { hasRole, NeedsRole } from '../../../parts/needs-role.tsx'
import { InviteForm } from './invite-form.tsx'
import { MemberRow } from './member-row.tsx'

const PATH = '/settings/members'

/** `/settings/members`: who has access to the organization, and invitations. */
export const membersScreen = screen({
  path: PATH,
  area: 'settings',
  queries: ({ search }) => ({
    members: read('listMembers', { query: { per_page: 100, page: parsePage(search) } }),
    keys: read('listApiKeys', { query: { per_page: 100 } }),
  }),
  title: () => 'Members',
  Body: ({ results: { members, keys } }) => {
    const { me } = useFrame()
    return (
      <>
        <h1>Members</h1>
        <AreaTabs area="settings" current={PATH} />
        <NeedsRole what="Seeing, inviting and removing members" needed="admin" />
        {hasRole(me, 'admin') && (
          <>
            <Loaded result={members} what="The members">
              {({ data, meta }) => (
                <>
                  <ul class="list channels">
                    {data.map(member => (
                      <MemberRow
                        key={member.id}
                        member={member}
                        keys={keys.data?.data.filter(key => key.created_by === member.id) ?? null}
                        areAllKeys={keys.data !== null && keys.data.meta.total <= keys.data.data.length}
                      />
                    ))}
                  </ul>
                  <Pager meta={meta} what="members" buildPath={page => buildAddress(PATH, { page })} />
                </>
              )}
            </Loaded>
            <Section id="invite" title="Invite a person">
              <InviteForm />
            </Section>
          </>
        )}
      </>
    )
  },
})
