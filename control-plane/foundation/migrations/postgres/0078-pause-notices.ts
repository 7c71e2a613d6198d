import type { Knex } from 'knex'
import { addAuditTrigger } from './audit-trigger.ts'

/**
 * Admins get an email about a channel that was paused after failed deliveries. `pause_announced_at` is when it was queued. Pauses
 * from before this migration are not announced.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE alert_channels ADD COLUMN pause_announced_at timestamptz;
    UPDATE alert_channels SET pause_announced_at = paused_at WHERE is_paused;
    CREATE INDEX alert_channels_paused ON alert_channels (project_id) WHERE is_paused;
    DROP TRIGGER alert_channels_audited ON alert_channels;
  `)
  await addAuditTrigger(db, 'alert_channels', {
    resource: 'alert_channel',
    ignored: ['consecutive_failures', 'pause_announced_at'],
  })
}
