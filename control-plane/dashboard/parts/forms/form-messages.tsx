import type { OperationError } from '../../core/operations.ts'
import { listOtherMessages } from './field-errors.ts'

/** What no field shows of an error. `shown`: the fields that show their own problems. */
export function FormMessages({ error, shown }: { error: OperationError | null; shown: readonly string[] }) {
  if (!error) return null
  const others = listOtherMessages(error, shown)
  return (
    <p class="wrong" role="alert">
      {others.length > 0 ? `${others.join('. ')}.` : 'Some fields are not accepted. Each says why.'}
    </p>
  )
}
