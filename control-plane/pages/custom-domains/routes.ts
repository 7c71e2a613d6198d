import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { now } from '../../foundation/platform/time/clock.ts'
import { withActor } from '../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../foundation/web/auth/authentication.ts'
import type { App } from '../../foundation/web/server/app.ts'
import {
  dataSchema,
  IdParams,
  nullable,
  responseSchemas,
  strictObject,
  stringEnum,
  Timestamp,
} from '../../foundation/web/validation/schemas.ts'
import { toPageResponse } from '../admin/responses.ts'
import { PageRecord } from '../admin/schema.ts'
import {
  analyzeDomain,
  type DomainTools,
  launchDomainConnect,
  removeDomain,
  setCustomDomain,
  verifyDomain,
} from './actions.ts'

const tags = ['Status pages']
const Text = nullable(Type.String())

const DomainBody = strictObject({ domain: Type.String({ minLength: 1, maxLength: 253, description: 'a hostname' }) })

const AnalysisSchema = Type.Object({
  domain: Type.String(),
  cname_target: Type.String(),
  verified: Type.Boolean({ description: 'every record is in place' }),
  records: Type.Array(
    Type.Object({
      type: stringEnum(['CNAME', 'ALIAS', 'TXT']),
      name: Type.String(),
      value: Type.String(),
      ok: Type.Boolean(),
    }),
  ),
  dns_provider: Type.Object({ id: Text, name: Text, nameservers: Type.Array(Type.String()) }),
  ssl: Type.Object({
    status: stringEnum(['none', 'pending', 'active', 'error']),
    issuer: Text,
    expires_at: nullable(Timestamp),
  }),
  domain_connect: Type.Object({ available: Type.Boolean(), provider_id: Text, template: Text }),
  instructions: Type.Array(Type.String()),
})

const Launch = Type.Object({
  url: Type.String({ description: 'send the customer there' }),
  provider_id: Type.String(),
  service_id: Type.String(),
  expires_at: Timestamp,
})

const PATH = '/status-pages/:id/custom-domain'

/** Custom domains of status pages (specification, "Status pages"; decisions 7.4). */
export function customDomainRoutes(app: App, tools: DomainTools & { publicUrl: string }): void {
  const askedBy = (request: FastifyRequest<{ Params: { id: string } }>) => ({
    tools: withActor(tools, request),
    caller: getCaller(request),
    pageId: request.params.id,
  })
  const question = (summary: string) => ({ tags, summary, params: IdParams, body: DomainBody })
  const analysis = responseSchemas(200, dataSchema(AnalysisSchema), 400, 403, 404, 409)

  app.post(
    `${PATH}/analyze`,
    { schema: { ...question('What a custom domain needs; nothing is changed'), response: analysis } },
    async request => ({ data: await analyzeDomain(askedBy(request), request.body.domain) }),
  )

  app.post(
    `${PATH}/domain-connect`,
    {
      schema: {
        ...question('A signed address at which the DNS provider sets the records'),
        response: responseSchemas(200, dataSchema(Launch), 400, 403, 404, 422),
      },
    },
    async request => ({ data: await launchDomainConnect(askedBy(request), request.body.domain, now()) }),
  )

  app.put(
    PATH,
    { schema: { ...question('Set the custom domain; it is served once it is proven'), response: analysis } },
    async request => ({ data: await setCustomDomain(askedBy(request), request.body.domain, now()) }),
  )

  app.post(
    `${PATH}/verify`,
    { schema: { tags, summary: 'Look again whether the records are in place', params: IdParams, response: analysis } },
    async request => ({ data: await verifyDomain(askedBy(request), now()) }),
  )

  app.delete(
    PATH,
    {
      schema: {
        tags,
        summary: 'Remove the custom domain; answers the page, which stays',
        params: IdParams,
        response: responseSchemas(200, dataSchema(PageRecord), 404),
      },
    },
    async request => ({ data: toPageResponse(await removeDomain(askedBy(request), now()), tools.publicUrl) }),
  )
}
