import type { StoredForm } from './stored-form.ts'

/** Says that another person changed the record of a form, and asks what to do. `what`: such as "this incident". */
export const ForeignChange = ({
  what,
  form: { isForeign, showStored, keepChanges },
}: {
  what: string
  form: Pick<StoredForm<unknown, unknown, unknown>, 'isForeign' | 'showStored' | 'keepChanges'>
}) =>
  isForeign ? (
    <p class="banner" role="alert">
      Another person changed {what}. Your changes are not saved yet.{' '}
      <button type="button" class="plain" onClick={showStored}>
        Show what is saved now
      </button>{' '}
      or{' '}
      <button type="button" class="plain" onClick={keepChanges}>
        keep your changes
      </button>
      , which replace only the fields that you changed.
    </p>
  ) : null
