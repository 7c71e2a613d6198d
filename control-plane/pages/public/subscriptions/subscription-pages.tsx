import type { ComponentChildren } from 'preact'
import { type RenderedDocument, renderDocument } from '../../../foundation/web/html/document.tsx'
import type { PageView } from '../../core/types.ts'
import { STYLES } from '../../templates/assets.ts'
import { buildBrandStyle } from '../../templates/document/brand-style.ts'
import { getFaviconPath } from '../../templates/template.ts'
import { EMPTY_FORM, listViewComponents, type SubscriptionForm } from './subscription-form.ts'

/** The subscription form. `problem`: what is wrong with the submitted form. */
export function renderSubscribePage(
  view: PageView,
  form: SubscriptionForm = EMPTY_FORM,
  problem: string | null = null,
) {
  // the field that has the focus is read with the problem
  const described = { 'aria-describedby': PROBLEM_ID, autofocus: true }
  const isWebhook = form.webhook !== ''
  return renderFormPage(
    view,
    `Subscribe to ${view.name}`,
    <form method="post">
      <p>
        You will be notified when an incident begins, when it is updated, and when it is resolved, and about planned
        maintenance.
      </p>
      <Problem text={problem} />
      <label>
        Email address
        <input
          {...{ type: 'email', name: 'email', value: form.email, maxLength: 254, autocomplete: 'email' }}
          {...(problem !== null && !isWebhook && described)}
        />
      </label>
      <details open={isWebhook}>
        <summary>Use a webhook instead</summary>
        <label>
          Webhook URL
          <input
            {...{ type: 'url', name: 'webhook', value: form.webhook, maxLength: 2_048, autocomplete: 'off' }}
            {...(problem !== null && isWebhook && described)}
          />
        </label>
      </details>
      <Choice view={view} chosen={form.chosen} />
      <button type="submit">Subscribe</button>
    </form>,
    problem,
  )
}

/** The response to every accepted form. It does not reveal whether the address is subscribed. */
export function renderConfirmationSentPage(view: PageView, isMail: boolean) {
  return renderFormPage(
    view,
    isMail ? 'Check your email' : 'Confirm your subscription',
    <p role="status">
      {isMail
        ? 'We have sent a confirmation to this address, unless one was sent in the last few minutes. Open the link in it within 24 hours to subscribe.'
        : 'We have posted a confirmation to this URL, unless one was sent in the last few minutes. Open its confirm_url within 24 hours to subscribe.'}
    </p>,
  )
}

/** The page of a confirmation link. It has a button, because mail scanners open links automatically. */
export function renderConfirmPage(view: PageView) {
  return renderFormPage(
    view,
    `Subscribe to ${view.name}`,
    <form method="post">
      <p>Confirm that you want to be notified of incidents and maintenance on this page.</p>
      <button type="submit">Confirm</button>
    </form>,
  )
}

export function renderConfirmedPage(view: PageView, manageUrl: string) {
  return renderFormPage(
    view,
    'You are subscribed',
    <>
      <p role="status">You will be notified of the next incident or maintenance.</p>
      <p>
        <a href={manageUrl}>Manage your subscription</a>
      </p>
    </>,
  )
}

type ManageForm = { chosen: string[] | null; notice: string | null; problem: string | null }

/** The page on which a subscriber changes or ends the subscription. */
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
    problem,
  )
}

export function renderUnsubscribedPage(view: PageView) {
  return renderFormPage(
    view,
    'You are unsubscribed',
    <p role="status">You will receive no further messages. Your address has been deleted.</p>,
  )
}

/** The page of a link that is not valid: expired, used, forged, or of a subscriber who unsubscribed. */
export function renderExpiredLinkPage(view: PageView) {
  return renderFormPage(
    view,
    'This link has expired',
    <p>
      This link is no longer valid. <a href={`${view.publicUrl}/subscribe`}>Subscribe again</a>
    </p>,
  )
}

function Choice({ view, chosen }: { view: PageView; chosen: string[] | null }) {
  const components = listViewComponents(view)
  if (components.length < 2) return null
  return (
    <fieldset>
      <legend>Which components do you want to follow?</legend>
      <label class="option">
        <input type="radio" name="scope" value="all" checked={chosen === null} /> All components, including new ones
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

const PROBLEM_ID = 'problem'

const Problem = ({ text }: { text: string | null }) =>
  text === null ? null : (
    <p id={PROBLEM_ID} class="problem" role="alert">
      {text}
    </p>
  )

/** `problem`: why a form came back. A screen reader reads the title of the page first. */
function renderFormPage(
  view: PageView,
  title: string,
  content: ComponentChildren,
  problem: string | null = null,
): RenderedDocument {
  return renderDocument({
    lang: 'en',
    title: problem === null ? title : `Error: ${title}`,
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
