import type { RenderedDocument } from '../../../foundation/web/html/document.tsx'
import { FormError, renderFormPage } from '../../../foundation/web/html/form-page.tsx'
import type { PendingInstall } from '../installations/install-actions.ts'

/**
 * What is asked of a person in whose browser nobody is signed in who began the installation: they may have been sent to
 * the consent screen by somebody who wants their chat. The form is sent to the page's own address, which holds the code.
 */
export const renderConfirmPage = ({ email, projectName, organizationName }: PendingInstall): RenderedDocument =>
  renderFormPage(
    'Connect your chat?',
    <>
      <p>You have agreed in your chat. It will be connected to this project in Picket:</p>
      <dl>
        <dt>Project</dt>
        <dd dir="auto">{projectName}</dd>
        <dt>Organization</dt>
        <dd dir="auto">{organizationName}</dd>
        <dt>Begun by</dt>
        <dd dir="auto">{email}</dd>
      </dl>
      <p class="caution">
        Whoever runs this project can then write into your chat and find people there by their e-mail addresses. Go on
        only if you know who began this.
      </p>
      <form method="post">
        <button type="submit">Connect</button>
      </form>
      <p class="more">Otherwise close this page. Nothing is connected yet.</p>
    </>,
  )

/** The end of it for somebody who need not have an account here. */
export const renderConnectedPage = (teamName: string): RenderedDocument =>
  renderFormPage(
    'The chat is connected',
    <>
      <p>
        <strong dir="auto">{teamName}</strong> now hears of incidents from Picket. Type <code>/picket</code> there to
        see what else it can do.
      </p>
      <p class="more">
        You can close this page. <a href="/settings/chat">Settings</a>
      </p>
    </>,
  )

/** What a person sees who comes back from the consent screen in vain. `message`: a sentence that says why. */
export function renderRefusedPage(message: string): RenderedDocument {
  // people know of no parameters
  const words = message.replace(/^(state|code) /, 'this link ')
  return renderFormPage(
    'The chat is not connected',
    <>
      <FormError text={`${words.charAt(0).toUpperCase()}${words.slice(1)}.`} />
      <p class="more">
        <a href="/settings/chat">See what is connected, or begin again</a>
      </p>
    </>,
  )
}
