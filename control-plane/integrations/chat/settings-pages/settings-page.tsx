import type { RenderedDocument } from '../../../foundation/web/html/document.tsx'
import { renderFormPage } from '../../../foundation/web/html/form-page.tsx'
import type { StoredInstallation } from '../installations/installation.ts'

export type ChatPage = {
  installations: StoredInstallation[]
  /** the operator has set up an app */
  hasApp: boolean
  /** viewers look only */
  mayConnect: boolean
}

/** Which teams' chats a project is connected to, and the way to connect another. */
export const renderSettingsPage = ({ installations, hasApp, mayConnect }: ChatPage): RenderedDocument =>
  renderFormPage(
    'Chat',
    <>
      {installations.length === 0 ? (
        <p>No team is connected yet. Incidents can be told, acknowledged and asked about where your team talks.</p>
      ) : (
        <ul>
          {installations.map(installation => (
            <Team {...installation} />
          ))}
        </ul>
      )}
      <ConnectLink hasApp={hasApp} mayConnect={mayConnect} />
      <p class="more">
        <a href="/account">Your account</a>
      </p>
    </>,
  )

/** The dot in front says the same by its colour. */
const Team = ({ teamName, installedAt, revokedAt }: StoredInstallation) => (
  <li class={revokedAt === null ? undefined : 'over'}>
    <strong dir="auto">{teamName}</strong>
    {revokedAt === null
      ? `Connected on ${formatDay(installedAt)}`
      : `The team removed the app on ${formatDay(revokedAt)}. Connect it again to be told of incidents there.`}
  </li>
)

function ConnectLink({ hasApp, mayConnect }: Pick<ChatPage, 'hasApp' | 'mayConnect'>) {
  if (!hasApp) return <p>This installation of Picket has no app for chats. Whoever runs it can set one up.</p>
  if (!mayConnect) return <p>Editors and admins of your organization can connect a team.</p>
  return (
    <p class="more">
      <a class="button" href="/settings/chat/install">
        Connect a team
      </a>
    </p>
  )
}

const formatDay = (at: Date) => at.toISOString().slice(0, 10)
