import { Type } from 'typebox'
import { REGIONS } from '../../../../shared/checks/check.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import { getCaller } from '../../../foundation/web/auth/authentication.ts'
import { listRoute } from '../../../foundation/web/resource-routes.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { slicePage } from '../../../foundation/web/validation/pagination.ts'
import { pageProperties, strictObject, stringEnum } from '../../../foundation/web/validation/schemas.ts'
import { ProbeRecord, RegionRecord, toProbeResponse, toRegionResponse } from './probe-record.ts'
import { listProbePage, listRegions } from './probe-store.ts'

const tags = ['Operator']
const config = { operator: true } as const
const description = 'Needs a key of the operator project.'

/** `GET /probes`, for the operator, and `GET /regions`, for every key. Both are read from PostgreSQL only. */
export function probeRoutes(app: App, { db }: { db: Db }): void {
  listRoute(app, '/probes', {
    config,
    summary: 'List probes with their load and health',
    description,
    tags,
    querystring: strictObject({ ...pageProperties, region: Type.Optional(stringEnum(REGIONS)) }),
    record: ProbeRecord,
    errors: [400, 403],
    list: async (request, bounds) => {
      const { probes, total } = await listProbePage(db, request.query.region ?? null, bounds)
      return { data: probes.map(toProbeResponse), total }
    },
  })

  listRoute(app, '/regions', {
    summary: 'List regions and whether they have live probes',
    description: 'Every key can read it. Keys of the operator project also get the load of the regions.',
    tags: ['Monitors'],
    record: RegionRecord,
    list: async (request, bounds) => {
      const caller = getCaller(request)
      const { data: names, total } = slicePage(REGIONS, bounds)
      return { data: (await listRegions(db, names)).map(row => toRegionResponse(row, caller)), total }
    },
  })
}
