import type { RenderedDocument } from '../../../foundation/web/html/document.tsx'
import { renderFormPage } from '../../../foundation/web/html/form-page.tsx'
import type { StoredInstallation } from '../installations/installation.ts'

type ChatPage = {
  installations: StoredInstallation[]
  /** whether the operator has configured an app */
  hasApp: boolean
  /** whether the user may connect a team; viewers may not */
  mayConnect: boolean
}

/** The page with the connected teams and a link to connect another one. */
export const renderSettingsPage = ({ installations, hasApp, mayConnect }: ChatPage): RenderedDocument =>
  renderFormPage(
    'Chat',
    <>
      {installations.length === 0 ? (
        <p>No team is connected yet. Connect a team to receive, acknowledge and list incidents in its chat.</p>
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

/** The colour of the dot repeats the state. */
const Team = ({ teamName, installedAt, revokedAt }: StoredInstallation) => (
  <li class={revokedAt === null ? undefined : 'over'}>
    <strong dir="auto">{teamName}</strong>
    {revokedAt === null
      ? `Connected on ${formatDay(installedAt)}`
      : `The team removed the app on ${formatDay(revokedAt)}. Connect it again to receive incidents there.`}
  </li>
)

function ConnectLink({ hasApp, mayConnect }: Pick<ChatPage, 'hasApp' | 'mayConnect'>) {
  if (!hasApp) return <p>No chat app is configured. The operator of this Picket server can configure one.</p>
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
