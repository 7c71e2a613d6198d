import { toStorableText } from '../../../../shared/storable-text.ts'
import { newId } from '../../../foundation/platform/ids.ts'
import type { Tx } from '../../../foundation/platform/postgres/client.ts'
import {
  openSystemIncident,
  resolveSystemIncident,
} from '../../../verdict/incidents/operator-incidents/system-incident-actions.ts'
import type { StoredSource } from '../types.ts'

const MAX_TITLE_CHARACTERS = 200

/**
 * Opens the incident of a source that cannot be fetched (docs/design/data-sources.md#failed-fetches). It is minor,
 * because the values are unknown, not bad. It names no monitor, so no status page shows it. Returns its id.
 */
export async function openSourceIncident(
  tx: Tx,
  { projectId, name }: Pick<StoredSource, 'projectId' | 'name'>,
  { message, failures }: { message: string; failures: number },
  publicUrl: string,
  now: Date,
): Promise<string> {
  const id = newId()
  const opening = {
    title: toStorableText(`Data source ${name} cannot be fetched`, MAX_TITLE_CHARACTERS),
    severity: 'minor' as const,
    message: `${failures} consecutive fetches failed. Last error: ${message}. The monitors of this data source are unknown until it can be fetched again.`,
    startedAt: now,
  }
  await openSystemIncident(tx, projectId, id, opening, publicUrl, now)
  return id
}

/** Resolves the incident of a source, if there is one. The caller has locked the source. */
export async function closeSourceIncident(
  tx: Tx,
  { projectId, name, incidentId }: Pick<StoredSource, 'projectId' | 'name' | 'incidentId'>,
  why: 'fetched' | 'deleted' | 'paused',
  publicUrl: string,
  now: Date,
): Promise<void> {
  if (incidentId === null) return
  const message = why === 'fetched' ? `${name} can be fetched again.` : `Resolved because the data source was ${why}.`
  await resolveSystemIncident(tx, projectId, incidentId, message, publicUrl, now)
}
