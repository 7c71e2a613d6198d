import { formatCount, formatMs } from '../../core/format.ts'
import { Moment } from '../../parts/moment.tsx'
import {
  type Channel,
  countAttempts,
  type Delivery,
  DeliveryState,
  nameChannel,
  nameDelivery,
} from './delivery-words.tsx'

/** Deliveries in rows, each with the outcome of its last attempt. */
export const DeliveryTable = ({
  deliveries,
  channels,
}: {
  deliveries: readonly Delivery[]
  channels: readonly Channel[] | null
}) => (
  <table class="rows deliveries">
    <thead>
      <tr>
        <th scope="col">Status</th>
        <th scope="col">Event</th>
        <th scope="col">Channel</th>
        <th scope="col">Last answer</th>
        <th scope="col" class="number">
          Attempts
        </th>
        <th scope="col">Time</th>
      </tr>
    </thead>
    <tbody>
      {deliveries.map(delivery => (
        <tr key={delivery.id}>
          <td class="nowrap">
            <DeliveryState status={delivery.status} />
          </td>
          <td>
            <a class="row" href={`/log/${delivery.id}`}>
              {nameDelivery(delivery)}
            </a>
            {delivery.about && delivery.about.type !== 'test' && (
              <>
                {' '}
                <span class="soft" dir="auto">
                  {delivery.about.name}
                </span>
              </>
            )}
          </td>
          <td dir="auto">{nameChannel(delivery.alert_channel_id, channels)}</td>
          <td class="cause" dir="auto">
            {formatLastAnswer(delivery)}
          </td>
          <td class="number attempts">
            <span class="narrow">{formatCount(countAttempts(delivery), 'attempt')}</span>
            <span class="wide">{countAttempts(delivery)}</span>
          </td>
          <td class="nowrap">
            <Moment at={delivery.created_at} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
)

/** `200 in 34 ms`, or why there was no answer. */
export function formatLastAnswer({ attempts }: Pick<Delivery, 'attempts'>): string {
  const last = attempts.at(-1)
  if (!last) return 'not sent yet'
  if (last.error !== null) return last.error
  return `${last.response_code ?? 'accepted'} in ${formatMs(last.duration_ms)}`
}
