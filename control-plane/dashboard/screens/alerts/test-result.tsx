import { useState } from 'preact/hooks'
import { useFollowing } from '../../browser/following.ts'
import { useFrame } from '../../core/frame-context.ts'
import type { OperationError } from '../../core/operations.ts'
import { Missing } from '../../parts/layout/states.tsx'
import { formatBody } from './delivery-body.ts'
import { formatLastAnswer } from './delivery-table.tsx'
import { type Delivery, DeliveryState } from './delivery-words.tsx'

/** What happened to a test message, read until it has ended. */
export function TestResult({ deliveryId: id }: { deliveryId: string }) {
  const { execute } = useFrame()
  const [delivery, setDelivery] = useState<Delivery | null>(null)
  const [error, setError] = useState<OperationError | null>(null)
  const hasEnded = delivery !== null && delivery.status !== 'pending'
  useFollowing(hasEnded ? null : id, async () => {
    const outcome = await execute('readAlertLog', { path: { id } })
    if ('error' in outcome) return setError(outcome.error)
    setError(null)
    setDelivery(outcome.data.data)
  })
  return (
    <div class="test-result" role="status">
      {error && <Missing what="The result of the test" error={error} />}
      <p>
        <DeliveryState status={delivery?.status ?? 'pending'} />{' '}
        <span class="soft">{delivery ? formatLastAnswer(delivery) : 'The test message is queued.'}</span>{' '}
        <a href={`/log/${id}`}>Receipt</a>
      </p>
      {hasEnded && delivery.request_body !== null && (
        <details>
          <summary>Request and answer</summary>
          <p class="mono" dir="ltr">
            {delivery.request_url}
          </p>
          <pre dir="auto">{formatBody(delivery.request_body)}</pre>
          <pre dir="auto">{delivery.attempts.at(-1)?.response_snippet || 'The answer has no content.'}</pre>
        </details>
      )}
    </div>
  )
}
