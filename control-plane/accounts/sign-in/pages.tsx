import { Field, FormError, renderFormPage } from '../../foundation/web/html/form-page.tsx'
import type { LinkProblem, LinkPurpose } from './password-links/link.ts'

/** The sign-in form. `wrong` is about the whole form: it never says whether the address or the password is wrong. */
export function signInPage(form: { email: string; returnTo: string }, wrong: string | null = null) {
  return renderFormPage(
    'Sign in',
    <>
      <FormError text={wrong} />
      <form method="post" action="/sign-in">
        <input type="hidden" name="return_to" value={form.returnTo} />
        <Field
          {...{ name: 'email', label: 'Email address', type: 'email', autocomplete: 'username' }}
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

/** Browsers drop the session cookie without TLS, except on localhost. */
export const needsTlsPage = () =>
  renderFormPage(
    'Open this page over https',
    <p>
      You can sign in over https, or at localhost on the machine that runs Picket. Other connections are not encrypted,
      and a password could be read on the way.
    </p>,
  )

export const PASSWORD_HINT = 'At least 12 characters. A few words are easy to remember.'

/** The form of a link that sets a password. */
export function setPasswordPage(purpose: LinkPurpose, email: string, problem: string | null = null) {
  const isClaim = purpose === 'claim'
  return renderFormPage(
    isClaim ? 'Welcome to Picket' : 'Choose a new password',
    <>
      <p>
        {isClaim ? 'Choose a password for ' : 'For '}
        <strong>{email}</strong>
        {isClaim ? '. You are signed in afterwards.' : '. You will be signed out everywhere else.'}
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
  used: 'It was already used, or a newer link replaced it.',
  expired: 'It has expired.',
  unknown: 'The link is unknown, or a newer link replaced it. Check that you copied the whole address.',
}

/** Explains why a link does not work and how to get another one. */
export function invalidLinkPage(purpose: LinkPurpose, why: LinkProblem, sendsMail: boolean) {
  return renderFormPage(
    'This link does not work',
    <>
      <p>{LINK_PROBLEM_TEXTS[why]}</p>
      {purpose === 'claim' && <p>An admin of your organization can create a new one.</p>}
      {sendsMail ? (
        <p class="more">
          <a href="/forgot-password">Send me a new link</a> · <a href="/sign-in">Sign in</a>
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
        <p>This installation does not send email. Ask its operator for a new link. The operator creates one with</p>
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
      <p>We will email you a link to choose a new one.</p>
      <FormError text={wrong} />
      <form method="post" action="/forgot-password">
        <Field
          {...{ name: 'email', label: 'Email address', type: 'email', autocomplete: 'username' }}
          value={email}
          autofocus
        />
        <button type="submit">Send the link</button>
      </form>
      <BackToSignIn />
    </>,
  )
}

/** Shown for every address, whether it has an account or not. */
export const resetSentPage = () =>
  renderFormPage(
    'Check your email',
    <>
      <p role="status">
        If this address has an account, a link has been sent to it. The link works for an hour. If you do not receive
        it, check your spam folder, or try again in 15 minutes.
      </p>
      <BackToSignIn />
    </>,
  )

const BackToSignIn = () => (
  <p class="more">
    <a href="/sign-in">Back to sign-in</a>
  </p>
)
