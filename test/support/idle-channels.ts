import { v7 as uuidv7 } from 'uuid'
import { type Db, execute } from '../../control-plane/foundation/platform/postgres/client.ts'

/** Inserts channels of a project that send nothing. Returns their ids. */
export async function insertIdleChannels(db: Db, projectId: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => uuidv7())
  await execute(
    db,
    `INSERT INTO alert_channels (id, project_id, name, type, config, is_default, created_at, updated_at)
     SELECT id, ?, 'Hook', 'webhook', '', false, now(), now() FROM unnest(?::uuid[]) AS r (id)`,
    [projectId, ids],
  )
  return ids
}
