import type { ComponentChildren } from 'preact'
import { type RenderedDocument, renderDocument } from './document.tsx'
import { FORM_PAGE_STYLE } from './form-page-style.ts'

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='%232563eb'%3E%3Cpath d='M12 2 4 6v6c0 5 3.4 8.7 8 10 4.6-1.3 8-5 8-10V6z'/%3E%3C/svg%3E"

/** A page with a single card: sign-in, setting a password, the own account. Works without scripts. */
export function renderFormPage(title: string, content: ComponentChildren): RenderedDocument {
  return renderDocument({
    lang: 'en',
    title: `${title} · Picket`,
    head: (
      <>
        <meta name="robots" content="noindex" />
        <link rel="icon" href={ICON} />
      </>
    ),
    styles: [FORM_PAGE_STYLE],
    scripts: [],
    hasInlineIcon: true,
    body: (
      <body>
        <header>
          <Mark />
          Picket
        </header>
        <main>
          <h1>{title}</h1>
          {content}
        </main>
      </body>
    ),
  })
}

const ERROR_TITLES: Record<number, string> = {
  403: 'This form was not sent from this site',
  404: 'Page not found',
  429: 'Too many requests',
  503: 'Temporarily unavailable',
}

/** The page for an error. `message`: a sentence that begins with a lower-case letter and has no full stop. */
export const renderErrorPage = (status: number, message: string) =>
  renderFormPage(
    ERROR_TITLES[status] ?? (status < 500 ? 'Invalid request' : 'Something went wrong'),
    <>
      <p>{`${message.charAt(0).toUpperCase()}${message.slice(1)}.`}</p>
      <p class="more">
        <a href="/sign-in">Sign in</a>
      </p>
    </>,
  )

const Mark = () => (
  <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">
    <path d="M12 2.5 4 6.2v5.6c0 4.7 3.3 8.3 8 9.7 4.7-1.4 8-5 8-9.7V6.2z" />
    <path d="M7.5 12h2.4l1.5-3.4 2 6.4 1.4-3h1.7" stroke-linecap="round" stroke-linejoin="round" />
  </svg>
)

/** An error of the whole form. */
export const FormError = ({ text }: { text: string | null }) =>
  text === null ? null : (
    <p class="wrong" role="alert">
      {text}
    </p>
  )

export const FormNotice = ({ text }: { text: string | null }) =>
  text === null ? null : (
    <p class="notice" role="status">
      {text}
    </p>
  )

type FieldProps = {
  name: string
  label: string
  type: 'email' | 'password'
  autocomplete: string
  value?: string
  hint?: string
  /** the error of this field */
  error?: string | null
  autofocus?: boolean
}

/** A field with its label and its error below. */
export function Field({ name, label, type, hint, error = null, ...input }: FieldProps) {
  const errorAttributes = error === null ? {} : { 'aria-invalid': true, 'aria-describedby': `${name}-error` }
  return (
    <label>
      {label}
      {hint && <small>{hint}</small>}
      {/* the cast lets the compiler check the attributes of one input type */}
      <input name={name} type={type as 'password'} required maxLength={512} {...input} {...errorAttributes} />
      {error !== null && (
        <span class="error" id={`${name}-error`}>
          {error}
        </span>
      )}
    </label>
  )
}
