import type { Knex } from 'knex'
import { addAuditTrigger } from './audit-trigger.ts'

/**
 * An organization can make a person a member without asking. `entered_at` is the time when the person first opened it, by a
 * session or by a link that it sent: only then it reads in its audit log when and from where the person signs in. A process of
 * the previous version sets neither column: such a membership is entered by the next sign-in, and such a link has no sender.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    ALTER TABLE memberships ADD COLUMN entered_at timestamptz;
    -- who waits for a proof has never had access
    UPDATE memberships SET entered_at = created_at WHERE NOT awaits_proof;
    DROP TRIGGER memberships_audited ON memberships;

    -- the organization that caused the link; null: the operator, a reset, or unknown. No foreign key: links are deleted a
    -- month after they expired, and the membership decides what a link opens
    ALTER TABLE claim_links ADD COLUMN organization_id uuid;
  `)
  await addAuditTrigger(db, 'memberships', {
    ...{ resource: 'member', id: 'user_id', name: 'user_id' },
    ignored: ['entered_at'],
  })
}
