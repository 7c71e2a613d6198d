import { Type } from 'typebox'
import { REGIONS } from '../../shared/check.ts'
import type { Db } from '../platform/postgres.ts'
import type { App } from '../web/app.ts'
import { metaOf, pageOf } from '../web/pages.ts'
import { answers, enumOf, PageQuery, pageProperties, pageOf as pageSchema, strictObject } from '../web/schemas.ts'
import { Probe, presentProbe, presentRegion, Region } from './view.ts'
import { pageOfProbes, storedRegions } from './view-store.ts'

const tags = ['Operator']
const config = { operator: true } as const
const description = 'Needs a key of the operator project.'

/** `GET /probes`, `GET /regions`: the fleet as its operator sees it (decisions 11), from PostgreSQL alone. */
export function fleetViewRoutes(app: App, { db }: { db: Db }): void {
  app.get(
    '/probes',
    {
      config,
      schema: {
        tags,
        summary: 'List probes with their load and their health',
        description,
        querystring: strictObject({ ...pageProperties, region: Type.Optional(enumOf(REGIONS)) }),
        response: answers(200, pageSchema(Probe), 400, 403),
      },
    },
    async request => {
      const { probes, total } = await pageOfProbes(db, request.query.region ?? null, pageOf(request.query))
      return { data: probes.map(presentProbe), meta: metaOf(request.query, total) }
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
        response: answers(200, pageSchema(Region), 400, 403),
      },
    },
    async request => {
      const { limit, offset } = pageOf(request.query)
      const regions = await storedRegions(db, REGIONS.slice(offset, offset + limit))
      return { data: regions.map(presentRegion), meta: metaOf(request.query, REGIONS.length) }
    },
  )
}
