import { cardPage, Wrong } from '../web/card-page.tsx'
import type { RenderedDocument } from '../web/document.tsx'
import type { Begun } from './install-actions.ts'

/**
 * What is asked of a person in whose browser nobody is signed in who began the installation: they may have been sent to
 * the consent screen by somebody who wants their chat. The form is sent to the page's own address, which holds the code.
 */
export const confirmPage = ({ email, projectName, organizationName }: Begun): RenderedDocument =>
  cardPage(
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
export const connectedPage = (teamName: string): RenderedDocument =>
  cardPage(
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
export function refusedPage(message: string): RenderedDocument {
  // people know of no parameters
  const words = message.replace(/^(state|code) /, 'this link ')
  return cardPage(
    'The chat is not connected',
    <>
      <Wrong text={`${words.charAt(0).toUpperCase()}${words.slice(1)}.`} />
      <p class="more">
        <a href="/settings/chat">See what is connected, or begin again</a>
      </p>
    </>,
  )
}
