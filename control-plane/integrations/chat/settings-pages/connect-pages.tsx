import type { RenderedDocument } from '../../../foundation/web/html/document.tsx'
import { FormError, renderFormPage } from '../../../foundation/web/html/form-page.tsx'
import type { PendingInstall } from '../installations/install-actions.ts'

/**
 * Asks for confirmation in a browser without a session of the user who began the installation, because that user may have
 * sent another person to the consent screen. The form is sent to the address of the page, which contains the code.
 */
export const renderConfirmPage = ({ email, projectName, organizationName }: PendingInstall): RenderedDocument =>
  renderFormPage(
    'Connect your chat?',
    <>
      <p>You have approved the app in your chat. Your chat will be connected to this project in Picket:</p>
      <dl>
        <dt>Project</dt>
        <dd dir="auto">{projectName}</dd>
        <dt>Organization</dt>
        <dd dir="auto">{organizationName}</dd>
        <dt>Started by</dt>
        <dd dir="auto">{email}</dd>
      </dl>
      <p class="caution">
        The members of this project can then post to your chat and find people there by their email addresses. Continue
        only if you know the person who started this.
      </p>
      <form method="post">
        <button type="submit">Connect</button>
      </form>
      <p class="more">To cancel, close this page. Nothing is connected yet.</p>
    </>,
  )

/** The last page of an installation, for a person who may not have an account. */
export const renderConnectedPage = (teamName: string): RenderedDocument =>
  renderFormPage(
    'The chat is connected',
    <>
      <p>
        Picket now sends incidents to <strong dir="auto">{teamName}</strong>. Type <code>/picket</code> there to see the
        available commands.
      </p>
      <p class="more">
        You can close this page. <a href="/settings/chat">Settings</a>
      </p>
    </>,
  )

/** The page after a failed installation. `message` is the reason. */
export function renderRefusedPage(message: string): RenderedDocument {
  // the names of parameters mean nothing to users
  const text = message.replace(/^(state|code) /, 'this link ')
  return renderFormPage(
    'The chat is not connected',
    <>
      <FormError text={`${text.charAt(0).toUpperCase()}${text.slice(1)}.`} />
      <p class="more">
        <a href="/settings/chat">Show connected teams or start again</a>
      </p>
    </>,
  )
}
