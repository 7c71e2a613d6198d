import { Type } from 'typebox'
import { REGIONS } from '../../../../shared/checks/check.ts'
import type { Db } from '../../../foundation/platform/postgres/client.ts'
import type { App } from '../../../foundation/web/server/app.ts'
import { buildPageMeta, toPageBounds } from '../../../foundation/web/validation/pagination.ts'
import {
  PageQuery,
  pageProperties,
  pageSchema,
  responseSchemas,
  strictObject,
  stringEnum,
} from '../../../foundation/web/validation/schemas.ts'
import { ProbeRecord, RegionRecord, toProbeResponse, toRegionResponse } from './probe-record.ts'
import { listProbePage, listRegions } from './probe-store.ts'

const tags = ['Operator']
const config = { operator: true } as const
const description = 'Needs a key of the operator project.'

/** `GET /probes` and `GET /regions`: the fleet for its operator, read from PostgreSQL only. */
export function probeRoutes(app: App, { db }: { db: Db }): void {
  app.get(
    '/probes',
    {
      config,
      schema: {
        tags,
        summary: 'List probes with their load and health',
        description,
        querystring: strictObject({ ...pageProperties, region: Type.Optional(stringEnum(REGIONS)) }),
        response: responseSchemas(200, pageSchema(ProbeRecord), 400, 403),
      },
    },
    async request => {
      const { probes, total } = await listProbePage(db, request.query.region ?? null, toPageBounds(request.query))
      return { data: probes.map(toProbeResponse), meta: buildPageMeta(request.query, total) }
    },
  )

  app.get(
    '/regions',
    {
      config,
      schema: {
        tags,
        summary: 'List regions with their live probes and monitors',
        description,
        querystring: PageQuery,
        response: responseSchemas(200, pageSchema(RegionRecord), 400, 403),
      },
    },
    async request => {
      const { limit, offset } = toPageBounds(request.query)
      const regions = await listRegions(db, REGIONS.slice(offset, offset + limit))
      return { data: regions.map(toRegionResponse), meta: buildPageMeta(request.query, REGIONS.length) }
    },
  )
}
