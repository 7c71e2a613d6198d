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

const DomainBody = strictObject({
  domain: Type.String({ minLength: 1, maxLength: 253, description: 'A hostname, such as status.example.com.' }),
})

const AnalysisSchema = Type.Object({
  domain: Type.String(),
  cname_target: Type.String(),
  verified: Type.Boolean({ description: 'True when all records are in place.' }),
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
  url: Type.String({ description: 'The address that the customer opens.' }),
  provider_id: Type.String(),
  service_id: Type.String(),
  expires_at: Timestamp,
})

const PATH = '/status-pages/:id/custom-domain'
const SET_DESCRIPTION =
  'The domain is served once all records are in place; an earlier domain is not served from then on. After an error, the page keeps its earlier domain.'

/** Custom domains of status pages (docs/design/subscribers.md#custom-domains). */
export function customDomainRoutes(app: App, tools: DomainTools & { publicUrl: string }): void {
  const toDomainRequest = (request: FastifyRequest<{ Params: { id: string } }>) => ({
    tools: withActor(tools, request),
    caller: getCaller(request),
    pageId: request.params.id,
  })
  const operation = (summary: string, description: string) => ({
    ...{ tags, summary, description, params: IdParams, body: DomainBody },
  })
  const analysis = responseSchemas(200, dataSchema(AnalysisSchema), 400, 403, 404, 409)

  app.post(
    `${PATH}/analyze`,
    {
      schema: {
        ...operation(
          'Analyze a custom domain',
          'Reads DNS records, certificate and Domain Connect support. Changes nothing.',
        ),
        response: analysis,
      },
    },
    async request => ({ data: await analyzeDomain(toDomainRequest(request), request.body.domain) }),
  )

  app.post(
    `${PATH}/domain-connect`,
    {
      schema: {
        ...operation(
          'Create a Domain Connect URL',
          'Returns a signed URL with which the DNS provider sets the records.',
        ),
        response: responseSchemas(200, dataSchema(Launch), 400, 403, 404, 422),
      },
    },
    async request => ({ data: await launchDomainConnect(toDomainRequest(request), request.body.domain, now()) }),
  )

  app.put(
    PATH,
    {
      schema: {
        ...operation('Set the custom domain', SET_DESCRIPTION),
        response: analysis,
      },
    },
    async request => ({ data: await setCustomDomain(toDomainRequest(request), request.body.domain, now()) }),
  )

  app.post(
    `${PATH}/verify`,
    {
      schema: {
        tags,
        summary: 'Verify the custom domain',
        description: 'Checks again whether all records are in place.',
        params: IdParams,
        response: analysis,
      },
    },
    async request => ({ data: await verifyDomain(toDomainRequest(request), now()) }),
  )

  app.delete(
    PATH,
    {
      schema: {
        tags,
        summary: 'Remove the custom domain',
        description: 'The page is still served at its public address. Returns the page.',
        params: IdParams,
        response: responseSchemas(200, dataSchema(PageRecord), 404),
      },
    },
    async request => ({ data: toPageResponse(await removeDomain(toDomainRequest(request), now()), tools.publicUrl) }),
  )
}
