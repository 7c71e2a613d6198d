import type { ChatMessage } from '../../../alerting/deliveries/types.ts'
import { type Db, execute, query } from '../../../foundation/platform/postgres/client.ts'

/** A message with an obsolete button. `chatUserId`: who acknowledged the incident, if linked with a chat user. */
export type ObsoleteButton = {
  deliveryId: string
  installation: { id: string; projectId: string; tokens: Buffer }
  message: ChatMessage
  body: Buffer
  incidentId: string
  /** null: the incident was deleted */
  status: string | null
  chatUserId: string | null
}

/**
 * Returns messages about incidents that are acknowledged, resolved or deleted, with turns between installations, except
 * those in `deferred`.
 */
export async function listObsoleteButtons(db: Db, deferred: string[]): Promise<ObsoleteButton[]> {
  const rows = await query<Row>(
    db,
    `SELECT d.id AS "deliveryId", ci.project_id AS "projectId", ci.id, ci.tokens,
       d.chat_message AS message, d.request_body AS body, e.data->'incident'->>'id' AS "incidentId", i.status,
       (SELECT chat_user_id FROM chat_identities x WHERE x.project_id = ci.project_id AND x.team_id = ci.team_id
          AND x.user_id = i.acknowledged_by AND x.disconnected_at IS NULL) AS "chatUserId"
     FROM deliveries d JOIN events e ON e.id = d.event_id
     JOIN alert_channels c ON c.id = d.channel_id
     JOIN chat_installations ci ON ci.id = c.chat_installation_id AND ci.revoked_at IS NULL AND ci.id <> ALL (?::uuid[])
     LEFT JOIN incidents i ON i.id = (e.data->'incident'->>'id')::uuid
     WHERE d.chat_message IS NOT NULL
       AND (i.id IS NULL OR i.acknowledged_at IS NOT NULL OR i.status = 'resolved')
     ORDER BY row_number() OVER (PARTITION BY ci.id ORDER BY d.id), d.id LIMIT 50`,
    [deferred],
  )
  return rows.map(({ id, projectId, tokens, ...row }) => ({ ...row, installation: { id, projectId, tokens } }))
}

type Row = Omit<ObsoleteButton, 'installation'> & ObsoleteButton['installation']

/** Records that the button was removed, or cannot be removed any more. */
export const clearChatMessage = (db: Db, deliveryId: string) =>
  execute(db, 'UPDATE deliveries SET chat_message = NULL WHERE id = ?', [deliveryId])
