import { Field, FormError, renderFormPage } from '../../foundation/web/html/form-page.tsx'
import type { LinkProblem, LinkPurpose } from './password-links/link.ts'

/** Where somebody signs in. `wrong` is said of the form as a whole: never whether it was the address or the password. */
export function signInPage(form: { email: string; returnTo: string }, wrong: string | null = null) {
  return renderFormPage(
    'Sign in',
    <>
      <FormError text={wrong} />
      <form method="post" action="/sign-in">
        <input type="hidden" name="return_to" value={form.returnTo} />
        <Field
          {...{ name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username' }}
          value={form.email}
          autofocus={form.email === ''}
        />
        <Field {...{ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' }} />
        <button type="submit">Sign in</button>
      </form>
      <p class="more">
        <a href="/forgot-password">Forgot your password?</a>
      </p>
    </>,
  )
}

/** Browsers drop our cookie where they see neither TLS nor this machine itself. */
export const needsTlsPage = () =>
  renderFormPage(
    'Open this page over https',
    <p>
      Picket lets people sign in over https only, or on the machine itself under the name localhost, so that nobody on
      the way can read a password.
    </p>,
  )

export const PASSWORD_HINT = 'At least 12 characters. A few words are easy to remember.'

/** The form of a link with which a password is set. */
export function setPasswordPage(purpose: LinkPurpose, email: string, problem: string | null = null) {
  const isClaim = purpose === 'claim'
  return renderFormPage(
    isClaim ? 'Welcome to Picket' : 'Choose a new password',
    <>
      <p>
        {isClaim ? 'Choose a password for ' : 'For '}
        <strong>{email}</strong>
        {isClaim ? '. Then you are signed in.' : '. You will be signed out everywhere else.'}
      </p>
      <form method="post">
        <input type="hidden" name="username" value={email} autocomplete="username" />
        <Field
          {...{
            name: 'password',
            label: 'Password',
            type: 'password',
            autocomplete: 'new-password',
            hint: PASSWORD_HINT,
          }}
          error={problem}
          autofocus
        />
        <button type="submit">{isClaim ? 'Set the password' : 'Change the password'}</button>
      </form>
    </>,
  )
}

const LINK_PROBLEM_TEXTS: Record<LinkProblem, string> = {
  used: 'It was used already, or a newer one was made.',
  expired: 'It is too old.',
  unknown: 'It is not one of ours, or a newer one was made. Look whether the whole address was copied.',
}

/** A link that does nothing any more, and how to get another one. */
export function invalidLinkPage(purpose: LinkPurpose, why: LinkProblem, sendsMail: boolean) {
  return renderFormPage(
    'This link does not work any more',
    <>
      <p>{LINK_PROBLEM_TEXTS[why]}</p>
      {purpose === 'claim' && <p>An admin of your organization can make a new one.</p>}
      {sendsMail ? (
        <p class="more">
          <a href="/forgot-password">Have a new link sent to you</a> · <a href="/sign-in">Sign in</a>
        </p>
      ) : (
        <p class="more">
          <a href="/sign-in">Sign in</a>
        </p>
      )}
    </>,
  )
}

export function forgotPasswordPage(sendsMail: boolean, email = '', wrong: string | null = null) {
  if (!sendsMail) {
    return renderFormPage(
      'Forgot your password?',
      <>
        <p>This installation sends no mail. Ask whoever runs it for a new link; they make one with</p>
        <p>
          <code>npm run admin -- user claim-link</code>
        </p>
        <BackToSignIn />
      </>,
    )
  }
  return renderFormPage(
    'Forgot your password?',
    <>
      <p>We send you a link with which you choose a new one.</p>
      <FormError text={wrong} />
      <form method="post" action="/forgot-password">
        <Field
          {...{ name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username' }}
          value={email}
          autofocus
        />
        <button type="submit">Send the link</button>
      </form>
      <BackToSignIn />
    </>,
  )
}

/** What everybody is told, whether there is an account or not. */
export const resetSentPage = () =>
  renderFormPage(
    'Look into your mail',
    <>
      <p role="status">
        If this address has an account, a link is on its way. It works for an hour. Nothing there? Look into the folder
        for spam, or ask again in a quarter of an hour.
      </p>
      <BackToSignIn />
    </>,
  )

const BackToSignIn = () => (
  <p class="more">
    <a href="/sign-in">Back to signing in</a>
  </p>
)
