import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useFrame } from '../../core/frame-context.ts'
import type { DataQuery, OperationError, OperationName, OperationResponse } from '../../core/operations.ts'

/** What happened to the form. `error`: of the last attempt. */
type FormState = { isBusy: boolean; error: OperationError | null }

/**
 * A form that carries out an operation and shows its error. Without scripts the browser sends it to `action`, a route of
 * `forms.ts`, which does the same and answers with the next page.
 */
export function OperationForm<Name extends OperationName>({
  action,
  call,
  onDone,
  children,
  ...rest
}: {
  action: string
  call: DataQuery<Name>
  onDone?(data: OperationResponse<Name>): void
  class?: string
  children(state: FormState): ComponentChildren
}) {
  const { execute } = useFrame()
  const [state, setState] = useState<FormState>({ isBusy: false, error: null })
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (state.isBusy) return
    setState({ isBusy: true, error: null })
    const outcome = await execute(call.name, call.arguments)
    if ('error' in outcome) return setState({ isBusy: false, error: outcome.error })
    setState({ isBusy: false, error: null })
    onDone?.(outcome.data)
  }
  return (
    <form class={rest.class} method="post" action={action} onSubmit={submit}>
      {children(state)}
    </form>
  )
}

/** A form that is one button. `name`: of the thing, for screen readers, where several buttons have the same text. */
export const OperationButton = <Name extends OperationName>({
  text,
  name,
  isMain = false,
  shortcut,
  ...form
}: {
  action: string
  text: string
  name?: string
  isMain?: boolean
  /** of toKeyShortcut */
  shortcut?: string
  call: DataQuery<Name>
  onDone?(data: OperationResponse<Name>): void
}) => (
  <OperationForm {...form} class="operation">
    {({ isBusy, error }) => (
      <>
        <button type="submit" class={isMain ? 'main' : undefined} disabled={isBusy} aria-keyshortcuts={shortcut}>
          {text}
          {name !== undefined && (
            <span class="hidden">
              {' '}
              <bdi>{name}</bdi>
            </span>
          )}
        </button>
        <FormError error={error} />
      </>
    )}
  </OperationForm>
)

/** The error of a form in the words of the API. Details have their own lines. */
export const FormError = ({ error }: { error: OperationError | null }) =>
  error && (
    <p class="wrong" role="alert">
      {(error.details ?? [error]).map(({ message }) => `${message}.`).join(' ')}
    </p>
  )
