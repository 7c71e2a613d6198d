import type { ComponentChildren } from 'preact'
import { renderFormPage } from '../../foundation/web/html/form-page.tsx'
import { toOneLine } from '../../foundation/web/validation/visible-text.ts'
import { TimeAgo } from '../sessions/time-ago-element.tsx'
import type { SuspendedAccess } from './actions.ts'
import type { AccessKind } from './decision.ts'
import type { AccessReview, SuspendedKey, SuspendedMember, SuspendedSession } from './store.ts'

type AccessView = { review: AccessReview; suspended: SuspendedAccess; returnTo: string; now: Date }

/** The page on which an admin keeps or ends suspended access, and creates a key for an organization without an admin key. */
export function accessPage(view: AccessView) {
  const { review, returnTo } = view
  return renderFormPage(
    review.isUndecided
      ? `Who keeps access to ${toOneLine(review.name)}?`
      : `${toOneLine(review.name)} has no admin key`,
    <>
      {review.isUndecided && <Undecided {...view} />}
      {review.lacksKey && <NewKey {...view} />}
      <p class="more">
        <a href={returnTo}>{review.isUndecided ? 'Decide later' : 'Continue without a key'}</a>
      </p>
    </>,
  )
}

/** Shows a new key, once. */
export const adminKeyPage = (key: string, returnTo: string) =>
  renderFormPage(
    'Your admin key',
    <>
      <p>Copy it now. It is not shown again.</p>
      <p>
        <code>{key}</code>
      </p>
      <p class="more">
        <a href={returnTo}>I have copied it</a>
      </p>
    </>,
  )

function Undecided(view: AccessView) {
  const { keys, members, sessions } = view.suspended
  const kinds = [keys, members, sessions].filter(({ total }) => total > 0)
  return (
    <>
      <p>
        The email address of the founder of this organization has been confirmed. Before that, other people could have
        created keys and added members in the founder’s name. All of them are suspended until you keep or end each one.
        Links to wallboards were deleted.
      </p>
      <p>
        Monitors, alerts and status pages continue to work. Also check the alert channels and the{' '}
        <a href="/settings/chat">connected chats</a>: they may belong to other people. Suspended members still receive
        alerts as direct messages until you end their membership.
      </p>
      <Section {...view} kind="key" title="API keys" all="keys" total={keys.total}>
        {keys.rows.map(key => (
          <KeyRow {...view} one={key} />
        ))}
      </Section>
      <Section {...view} kind="member" title="Members" all="members" total={members.total}>
        {members.rows.map(member => (
          <MemberRow {...view} one={member} />
        ))}
      </Section>
      <Section {...view} kind="session" title="Where members are signed in" all="sessions" total={sessions.total}>
        {sessions.rows.map(session => (
          <SessionRow {...view} one={session} />
        ))}
      </Section>
      {kinds.length > 1 && (
        <>
          <h2>Everything</h2>
          <Choices {...view} kind="everything" id="all" keep="Keep everything" end="End everything" />
        </>
      )}
    </>
  )
}

type SectionParts = AccessView & {
  kind: AccessKind
  title: string
  all: string
  total: number
  children: ComponentChildren[]
}

function Section({ title, all, total, children, ...view }: SectionParts) {
  if (total === 0) return null
  const more = total - children.length
  return (
    <>
      <h2>
        {title} ({total})
      </h2>
      <ul class="decided">{children}</ul>
      {more > 0 && <p>{more} more are shown after you have decided about these.</p>}
      {total > 1 && <Choices {...view} id="all" keep={`Keep all ${all}`} end={`End all ${all}`} />}
    </>
  )
}

type Row<One> = AccessView & { one: One }

const KeyRow = ({ one, ...view }: Row<SuspendedKey>) => (
  <li>
    <strong>
      <bdi>{one.name}</bdi>
      <span class="tag">{one.scope}</span>
    </strong>
    <small>{one.hint}</small>
    <small>
      Created <TimeAgo at={one.createdAt} now={view.now} />,{' '}
      {one.lastUsedAt === null ? (
        'never used'
      ) : (
        <>
          last used <TimeAgo at={one.lastUsedAt} now={view.now} />
        </>
      )}
    </small>
    <Choices {...view} kind="key" id={one.id} about={`the key ${one.name}`} />
  </li>
)

const MemberRow = ({ one, ...view }: Row<SuspendedMember>) => (
  <li>
    <strong>
      <bdi>{one.name ?? one.email}</bdi>
      <span class="tag">{one.role}</span>
    </strong>
    {one.name !== null && <small>{one.email}</small>}
    <small>
      Joined <TimeAgo at={one.createdAt} now={view.now} />
    </small>
    <Choices {...view} kind="member" id={one.id} about={`the member ${one.email}`} />
  </li>
)

const SessionRow = ({ one, ...view }: Row<SuspendedSession>) => (
  <li>
    <strong>{one.browser ?? 'A browser'}</strong>
    <small>{one.email}</small>
    <small>
      Signed in <TimeAgo at={one.createdAt} now={view.now} />
      {one.ip !== null && ` from ${one.ip}`}, last seen <TimeAgo at={one.lastSeenAt} now={view.now} />
    </small>
    <Choices {...view} kind="session" id={one.id} about={`the session of ${one.email}`} />
  </li>
)

type ChoiceParts = Pick<AccessView, 'review' | 'returnTo'> & {
  kind: AccessKind | 'everything'
  id: string
  keep?: string
  end?: string
  /** what the choice is about, for screen readers */
  about?: string
}

function Choices({ review, returnTo, kind, id, keep = 'Keep', end = 'End', about }: ChoiceParts) {
  const toAriaLabel = (label: string) => (about === undefined ? {} : { 'aria-label': `${label} ${about}` })
  return (
    <form method="post" action="/account/access" class="choices">
      <input type="hidden" name="organization_id" value={review.organizationId} />
      <input type="hidden" name="kind" value={kind} />
      <input type="hidden" name="id" value={id} />
      <input type="hidden" name="return_to" value={returnTo} />
      <button type="submit" name="choice" value="keep" class="small" {...toAriaLabel(keep)}>
        {keep}
      </button>
      <button type="submit" name="choice" value="end" class="small bad" {...toAriaLabel(end)}>
        {end}
      </button>
    </form>
  )
}

const NewKey = ({ review, returnTo }: AccessView) => (
  <>
    <h2>Create an admin key</h2>
    <p>This organization has no admin key that works. You can create one. It is shown only once.</p>
    <form method="post" action="/account/access/key">
      <input type="hidden" name="organization_id" value={review.organizationId} />
      <input type="hidden" name="return_to" value={returnTo} />
      <button type="submit" class="plain">
        Create an admin key
      </button>
    </form>
  </>
)
