import type { ComponentChildren } from 'preact'
import { type RenderedDocument, renderDocument } from '../../../foundation/web/html/document.tsx'
import type { PageView } from '../../core/types.ts'
import { STYLES } from '../../templates/assets.ts'
import { buildBrandStyle } from '../../templates/document/brand-style.ts'
import { getFaviconPath } from '../../templates/template.ts'
import { EMPTY_FORM, listViewComponents, type SubscriptionForm } from './subscription-form.ts'

/** The form with which somebody subscribes; `problem` says what was wrong with what they sent. */
export function renderSubscribePage(
  view: PageView,
  form: SubscriptionForm = EMPTY_FORM,
  problem: string | null = null,
) {
  return renderFormPage(
    view,
    `Subscribe to ${view.name}`,
    <form method="post">
      <p>You will hear when an incident begins, when there is news of it, and when it is over.</p>
      <Problem text={problem} />
      <label>
        E-mail address
        <input type="email" name="email" value={form.email} maxLength={254} autocomplete="email" />
      </label>
      <details open={form.webhook !== ''}>
        <summary>A webhook instead</summary>
        <label>
          Address that is posted to
          <input type="url" name="webhook" value={form.webhook} maxLength={2_048} autocomplete="off" />
        </label>
      </details>
      <Choice view={view} chosen={form.chosen} />
      <button type="submit">Subscribe</button>
    </form>,
  )
}

/** What everybody is told who sent the form, whoever they are. */
export function renderConfirmationSentPage(view: PageView, isMail: boolean) {
  return renderFormPage(
    view,
    'Nearly done',
    <p role="status">
      {isMail
        ? 'We have sent a message to this address, if it was not sent one just now. Open the link in it within 24 hours, and you are subscribed.'
        : 'We have posted a confirmation to this address, if it was not sent one just now. Open its confirm_url within 24 hours, and you are subscribed.'}
    </p>,
  )
}

/** What the link of a confirmation opens. A button, because programs that look at links for people open them too. */
export function renderConfirmPage(view: PageView) {
  return renderFormPage(
    view,
    `Subscribe to ${view.name}`,
    <form method="post">
      <p>One more step: confirm that you want to hear of incidents here.</p>
      <button type="submit">Confirm</button>
    </form>,
  )
}

export function renderConfirmedPage(view: PageView, manageUrl: string) {
  return renderFormPage(
    view,
    'You are subscribed',
    <>
      <p role="status">You will hear of the next incident.</p>
      <p>
        <a href={manageUrl}>Change what you hear</a>
      </p>
    </>,
  )
}

export type ManageForm = { chosen: string[] | null; notice: string | null; problem: string | null }

/** Where a subscriber changes or ends what they hear. */
export function renderManagePage(view: PageView, { chosen, notice, problem }: ManageForm) {
  return renderFormPage(
    view,
    `Your subscription to ${view.name}`,
    <>
      {notice !== null && <p role="status">{notice}</p>}
      <form method="post">
        <Problem text={problem} />
        <Choice view={view} chosen={chosen} />
        <button type="submit" name="action" value="save">
          Save
        </button>
      </form>
      <form method="post">
        <button type="submit" name="action" value="unsubscribe" class="plain">
          Unsubscribe
        </button>
      </form>
    </>,
  )
}

export function renderUnsubscribedPage(view: PageView) {
  return renderFormPage(
    view,
    'You are unsubscribed',
    <p role="status">You will be sent nothing more, and your address is forgotten.</p>,
  )
}

/** A link that is nobody's: expired, used up, of somebody who unsubscribed, or made up. */
export function renderExpiredLinkPage(view: PageView) {
  return renderFormPage(
    view,
    'This link has expired',
    <p>
      It leads to no subscription any more. <a href={`${view.publicUrl}/subscribe`}>Subscribe anew</a>
    </p>,
  )
}

function Choice({ view, chosen }: { view: PageView; chosen: string[] | null }) {
  const components = listViewComponents(view)
  if (components.length < 2) return null
  return (
    <fieldset>
      <legend>What do you want to hear of?</legend>
      <label class="option">
        <input type="radio" name="scope" value="all" checked={chosen === null} /> Everything, also what is added later
      </label>
      <label class="option">
        <input type="radio" name="scope" value="some" checked={chosen !== null} /> Only these:
      </label>
      <ul class="options">
        {components.map(({ id, name }) => (
          <li>
            <label class="option">
              <input type="checkbox" name="component" value={id} checked={chosen?.includes(id) ?? false} />{' '}
              <span dir="auto">{name}</span>
            </label>
          </li>
        ))}
      </ul>
    </fieldset>
  )
}

const Problem = ({ text }: { text: string | null }) =>
  text === null ? null : (
    <p class="problem" role="alert">
      {text}
    </p>
  )

function renderFormPage(view: PageView, title: string, content: ComponentChildren): RenderedDocument {
  return renderDocument({
    lang: 'en',
    title,
    head: (
      <>
        <meta name="robots" content="noindex" />
        <link rel="icon" href={getFaviconPath(view)} />
      </>
    ),
    styles: [STYLES.base + STYLES.forms, buildBrandStyle(view.brandColor), view.customCss ?? ''],
    scripts: [],
    body: (
      <body>
        <div class="page forms">
          <main>
            <p class="back">
              <a href={view.publicUrl} dir="auto">
                {view.name}
              </a>
            </p>
            <h1 dir="auto">{title}</h1>
            {content}
          </main>
        </div>
      </body>
    ),
  })
}
