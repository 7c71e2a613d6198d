import type { ComponentChildren } from 'preact'
import { CARD_STYLE } from './card-style.ts'
import { type RenderedDocument, renderDocument } from './document.tsx'

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='%232563eb'%3E%3Cpath d='M12 2 4 6v6c0 5 3.4 8.7 8 10 4.6-1.3 8-5 8-10V6z'/%3E%3C/svg%3E"

/** A page of a single card below our name: signing in, setting a password, one's own account. Works without scripts. */
export function cardPage(title: string, content: ComponentChildren): RenderedDocument {
  return renderDocument({
    lang: 'en',
    title: `${title} · Picket`,
    head: (
      <>
        <meta name="robots" content="noindex" />
        <link rel="icon" href={ICON} />
      </>
    ),
    styles: [CARD_STYLE],
    scripts: [],
    hasOwnIcon: true,
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

const TROUBLES: Record<number, string> = {
  403: 'This form was not sent from here',
  404: 'There is nothing here',
  429: 'Too often',
  503: 'Try again in a moment',
}

/** What somebody is shown instead of a page that could not be made. `message`: a sentence without its capital. */
export const troublePage = (status: number, message: string) =>
  cardPage(
    TROUBLES[status] ?? (status < 500 ? 'This cannot be read' : 'Something went wrong'),
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

/** What is wrong with the whole form. */
export const Wrong = ({ text }: { text: string | null }) =>
  text === null ? null : (
    <p class="wrong" role="alert">
      {text}
    </p>
  )

export const Notice = ({ text }: { text: string | null }) =>
  text === null ? null : (
    <p class="notice" role="status">
      {text}
    </p>
  )

export type FieldParts = {
  name: string
  label: string
  type: 'email' | 'password'
  autocomplete: string
  value?: string
  hint?: string
  /** what is wrong with it */
  said?: string | null
  autofocus?: boolean
}

/** A field with its label, and below it what is wrong with it. */
export function Field({ name, label, type, hint, said = null, ...input }: FieldParts) {
  const about = said === null ? {} : { 'aria-invalid': true, 'aria-describedby': `${name}-said` }
  return (
    <label>
      {label}
      {hint && <small>{hint}</small>}
      {/* of one type, so that the compiler finds the attributes of one kind of field */}
      <input name={name} type={type as 'password'} required maxLength={512} {...input} {...about} />
      {said !== null && (
        <span class="said" id={`${name}-said`}>
          {said}
        </span>
      )}
    </label>
  )
}
