import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { OperationError, Outcome } from '../../core/operations.ts'

/** The last attempt to carry out an operation: whether it runs, and why it failed. */
export type FormAttempt = {
  isBusy: boolean
  error: OperationError | null
  /** starts an attempt, unless one is running; resolves to its data, or to null if it failed or did not start */
  run<T>(action: () => Promise<Outcome<T>>): Promise<T | null>
  setError(error: OperationError | null): void
}

export function useAttempt(): FormAttempt {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<OperationError | null>(null)
  const run = async <T>(action: () => Promise<Outcome<T>>): Promise<T | null> => {
    if (isBusy) return null
    setBusy(true)
    setError(null)
    const outcome = await action()
    setBusy(false)
    if ('data' in outcome) return outcome.data
    setError(outcome.error)
    return null
  }
  return { isBusy, error, run, setError }
}

/** After an attempt that failed, the focus is in the first field that is wrong. Returns the reference for the form. */
export function useFocusOnError(error: OperationError | null) {
  const form = useRef<HTMLFormElement>(null)
  // not after the next frame: a key that follows the error belongs to the field
  useLayoutEffect(() => {
    if (error) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [error])
  return form
}
