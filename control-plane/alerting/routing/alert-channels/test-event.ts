import type { EventRow } from '../../events/catalog.ts'
import type { StoredChannel } from './store.ts'

const NO_MONITOR = '00000000-0000-0000-0000-000000000000'

/**
 * The event that `POST /alerts/channels/{id}/test` sends: a `monitor.down` about a monitor that does not exist. Receivers
 * show it like a real one; its texts say that it is a test.
 */
export function buildTestEvent(
  channel: Pick<StoredChannel, 'id' | 'projectId' | 'name'>,
  { id, publicUrl, now }: { id: string; publicUrl: string; now: Date },
): EventRow<'monitor.down'> {
  return {
    id,
    projectId: channel.projectId,
    name: 'monitor.down',
    subject: `channel:${channel.id}`,
    occurredAt: now,
    data: {
      monitor: {
        id: NO_MONITOR,
        name: `Test of the channel ${channel.name}`,
        url: 'https://example.com/',
        type: 'http',
        status: 'down',
      },
      check: {
        region: 'us-east',
        regions: ['us-east'],
        status_code: 503,
        response_time_ms: 123,
        error: 'This is a test. Nothing is down.',
      },
      ssl_expiry_days: null,
      domain_expiry_days: null,
      down_duration: null,
      incident: null,
      dashboard_url: `${publicUrl}/settings/channels`,
    },
  }
}
