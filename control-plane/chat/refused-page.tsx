import { cardPage, Wrong } from '../web/card-page.tsx'
import type { RenderedDocument } from '../web/document.tsx'

/** What a person sees who comes back from the consent screen in vain. `message`: a sentence that says why. */
export const refusedPage = (message: string): RenderedDocument =>
  cardPage(
    'The chat is not connected',
    <>
      <Wrong text={`${message.charAt(0).toUpperCase()}${message.slice(1)}.`} />
      <p>You can close this page, and begin again in the settings of the chat.</p>
    </>,
  )
