import type { DeliveryStatus } from '../../../alerting/deliveries/types.ts'
import type { OperationResponse } from '../../core/operations.ts'
import { Shape, type ShownStatus } from '../../parts/status.tsx'

export type Delivery = OperationResponse<'readAlertLog'>['data']
export type Channel = OperationResponse<'listAlertChannels'>['data'][number]

export const STATUS_NAMES: Record<DeliveryStatus, string> = {
  pending: 'Pending',
  delivered: 'Delivered',
  failed: 'Failed',
  skipped: 'Skipped',
  dead: 'Given up',
}

/** What the status of a delivery means, as a sentence. */
export const STATUS_SENTENCES: Record<DeliveryStatus, string> = {
  pending: 'It waits for its turn, or for the next attempt.',
  delivered: 'The receiver accepted it.',
  failed: 'No further attempt is made. It can be sent again.',
  skipped: 'It was not sent. It can be sent again.',
  dead: 'The relay has stopped trying. It can be sent again.',
}

const SHAPES: Record<DeliveryStatus, ShownStatus> = {
  pending: 'unknown',
  delivered: 'up',
  failed: 'down',
  skipped: 'paused',
  dead: 'down',
}

/** The status of a delivery as a shape and a word. */
export const DeliveryState = ({ status }: { status: DeliveryStatus }) => (
  <span class={`state ${SHAPES[status]}`}>
    <Shape status={SHAPES[status]} />
    {STATUS_NAMES[status]}
  </span>
)

const EVENT_SUBJECTS: Record<string, string> = { ssl_expiry: 'certificate expires', domain_expiry: 'domain expires' }

/** `monitor.down` → `Monitor down` */
export function nameEvent(event: string): string {
  const [kind = '', what = ''] = event.split('.')
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)} ${EVENT_SUBJECTS[what] ?? what.replaceAll('_', ' ')}`
}

/** The event of a delivery, or that it was a test. */
export const nameDelivery = ({ about, event }: Pick<Delivery, 'about' | 'event'>): string =>
  about?.type === 'test' ? 'Test alert' : nameEvent(event)

const ABOUT_PATHS = { monitor: '/monitors', incident: '/incidents', vendor: '/dependencies' } as const

/** The address of what a delivery is about; null for a digest or a test. */
export const buildAboutPath = ({ about }: Pick<Delivery, 'about'>): string | null =>
  about === null || about.type === 'test' ? null : `${ABOUT_PATHS[about.type]}/${about.id}`

export const CHANNEL_TYPE_NAMES: Record<Channel['type'], string> = {
  webhook: 'Webhook',
  email: 'Email',
  chat_a: 'Chat A',
  chat_b: 'Chat B',
  chat_c: 'Chat C',
}

/** The name of a channel; the start of its id when it is not among the known ones. */
export const nameChannel = (id: string, channels: readonly Channel[] | null): string =>
  channels?.find(channel => channel.id === id)?.name ?? `Channel ${id.slice(0, 8)}`

/** The number of attempts, including those that the log does not keep. */
export const countAttempts = ({ attempts, attempts_left_out: leftOut }: Delivery): number => attempts.length + leftOut
