import { Field, FormNotice, renderFormPage } from '../../foundation/web/html/form-page.tsx'
import type { AccessReview } from '../access-review/store.ts'
import type { ListedSession, UserOrganization, UserSession } from '../sessions/store.ts'
import { formatTimeAgo } from '../sessions/time-ago.ts'
import { TimeAgo } from '../sessions/time-ago-element.tsx'
import { PASSWORD_HINT } from './pages.tsx'

type AccountView = {
  session: UserSession
  organizations: Pick<UserOrganization, 'id' | 'name' | 'isEntered'>[]
  sessions: ListedSession[]
  /** the review that the user has to decide as an admin */
  review: AccessReview | null
  now: Date
  notice?: string | null
  problem?: { field: 'old' | 'new'; problem: string } | null
}

const CHOOSE = 'None. Choose one below. Its admins then see when and from which address you sign in.'
const ASK = 'None. Ask an admin to invite you, or to keep your access if it is suspended.'

/** The user's own account: identity, sessions, password, sign-out. */
export function accountPage({ notice = null, problem = null, ...view }: AccountView) {
  const { session, organizations } = view
  const mayChoose = session.organizationId === null && organizations.some(({ isEntered }) => !isEntered)
  const findError = (field: 'old' | 'new') => (problem?.field === field ? problem.problem : null)
  return renderFormPage(
    'Your account',
    <>
      <FormNotice text={notice} />
      {view.review && <AccessLink {...view.review} />}
      <dl>
        <dt>Email</dt>
        <dd>{session.email}</dd>
        <dt>Organization</dt>
        <dd>{session.organizationName ?? (mayChoose ? CHOOSE : ASK)}</dd>
        {session.role && (
          <>
            <dt>Role</dt>
            <dd>{session.role}</dd>
          </>
        )}
      </dl>
      {(mayChoose || organizations.length > 1) && <Switch {...view} />}
      <Sessions {...view} />
      <h2>Change your password</h2>
      <form method="post" action="/account/password">
        <input type="hidden" name="username" value={session.email} autocomplete="username" />
        <Field
          {...{ name: 'old', label: 'Current password', type: 'password', autocomplete: 'current-password' }}
          error={findError('old')}
        />
        <Field
          {...{
            name: 'password',
            label: 'New password',
            type: 'password',
            autocomplete: 'new-password',
            hint: PASSWORD_HINT,
          }}
          error={findError('new')}
        />
        <button type="submit">Change the password</button>
      </form>
      <form method="post" action="/sign-out">
        <button type="submit" class="plain">
          Sign out
        </button>
      </form>
      <p class="more">
        <a href="/settings/chat">Your team’s chat</a>
      </p>
      <p class="more">
        <a href="/">Overview</a>
      </p>
    </>,
  )
}

const AccessLink = ({ name, isUndecided }: AccessReview) => (
  <p class="caution">
    {isUndecided && 'Keys or members of '}
    <bdi>{name}</bdi>
    {isUndecided ? ' are suspended until you decide. ' : ' has no admin key. '}
    <a href="/account/access">{isUndecided ? 'Keep or end them' : 'Create one'}</a>
  </p>
)

const Switch = ({ session, organizations }: AccountView) => (
  <form method="post" action="/account/organization">
    <label>
      Organization
      <select name="organization_id">
        {organizations.map(({ id, name }) => (
          <option value={id} selected={id === session.organizationId}>
            {name}
          </option>
        ))}
      </select>
    </label>
    <button type="submit" class="plain">
      Switch
    </button>
  </form>
)

const Sessions = ({ session, sessions, now }: AccountView) => (
  <>
    <h2>Where you are signed in</h2>
    <ul class="acted">
      {sessions.map(one => (
        <li>
          <SessionWords {...one} {...{ now, isThis: one.id === session.id }} />
          {one.id !== session.id && <EndSession {...one} />}
        </li>
      ))}
    </ul>
    {sessions.length > 1 && (
      <form method="post" action="/account/sessions/end">
        <input type="hidden" name="session_id" value="others" />
        <button type="submit" class="plain">
          Sign out everywhere else
        </button>
      </form>
    )}
  </>
)

function SessionWords({
  browser,
  ip,
  createdAt,
  lastSeenAt,
  now,
  isThis,
}: ListedSession & { now: Date; isThis: boolean }) {
  const wasUsedSince = formatTimeAgo(createdAt, now) !== formatTimeAgo(lastSeenAt, now)
  return (
    <p>
      <strong>
        {browser ?? 'A browser'}
        {isThis && <span class="tag">this one</span>}
      </strong>
      <small>
        Signed in <TimeAgo at={createdAt} now={now} />
        {ip !== null && ` from ${ip}`}
      </small>
      {wasUsedSince && !isThis && (
        <small>
          Last seen <TimeAgo at={lastSeenAt} now={now} />
        </small>
      )}
    </p>
  )
}

const EndSession = ({ id, browser, ip }: ListedSession) => (
  <form method="post" action="/account/sessions/end">
    <input type="hidden" name="session_id" value={id} />
    <button
      type="submit"
      class="small"
      aria-label={`Sign out of ${browser ?? 'a browser'}${ip === null ? '' : ` at ${ip}`}`}
    >
      Sign out
    </button>
  </form>
)
