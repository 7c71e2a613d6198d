import { query } from '../../control-plane/foundation/platform/postgres/client.ts'
import { incidentRoutes } from '../../control-plane/verdict/incidents/api/routes.ts'
import { incidentUpdateRoutes } from '../../control-plane/verdict/incidents/api/update-routes.ts'
import { createResourceApi } from './resource-api.ts'
import type { Teardown } from './teardown.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read data of every event
type RecordedEvent = { name: string; data: any }

/** The API of incidents and their updates. */
export async function createIncidentApi(t: Teardown) {
  const api = await createResourceApi(t, (app, handles) => {
    incidentRoutes(app, handles)
    incidentUpdateRoutes(app, handles)
  })
  /** the events about an incident, in order */
  const listEvents = (id: string) =>
    query<RecordedEvent>(api.db, 'SELECT name, data FROM events WHERE subject = ? ORDER BY id', [`incident:${id}`])
  /** their names, such as `created updated` */
  const listEventNames = async (id: string) =>
    (await listEvents(id)).map(({ name }) => name.replace('incident.', '')).join(' ')
  return { api, listEvents, listEventNames }
}
