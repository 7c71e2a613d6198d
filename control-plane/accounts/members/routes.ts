import { Type } from 'typebox'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { withActor, withRequestActor } from '../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../foundation/web/auth/authentication.ts'
import type { App } from '../../foundation/web/server/app.ts'
import { buildPageMeta, toPageBounds } from '../../foundation/web/validation/pagination.ts'
import {
  DeletedResponse,
  dataSchema,
  Id,
  IdParams,
  Name,
  nullable,
  PageQuery,
  pageSchema,
  responseSchemas,
  strictObject,
  stringEnum,
  Timestamp,
} from '../../foundation/web/validation/schemas.ts'
import { changeRole, endMembership, type InviteTools, invite, renewClaimLink } from './actions.ts'
import { MEMBER_ROLES } from './role.ts'
import { listMembers, type MemberRow } from './store.ts'

const Member = Type.Object(
  {
    id: Type.String({ description: 'the id of the user' }),
    user_id: Id,
    email: Type.String(),
    name: nullable(Type.String()),
    role: stringEnum(MEMBER_ROLES),
    is_claimed: Type.Boolean({ description: 'a password is set' }),
    awaits_proof: Type.Boolean({
      description:
        'the account was made by others, and nobody has shown that the address is theirs; until then nothing here is open to them',
    }),
    suspended_at: nullable(Timestamp, {
      description:
        'since then nothing here is open to them, until an admin keeps or ends the membership in the browser',
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Member' },
)
const InvitedMember = Type.Object({
  user_id: Id,
  email: Type.String(),
  role: stringEnum(MEMBER_ROLES),
  is_new_account: Type.Boolean(),
  claim_url: Type.Optional(Type.String({ description: 'only of a new account; works once, for 72 hours' })),
})
const ClaimLink = Type.Object({ user_id: Id, claim_url: Type.String(), claim_expires_in: Type.String() })

const tags = ['Members']
const config = { scope: 'admin' } as const

/** Who belongs to an organization, for admin keys (specification, "Agent bootstrap"; decisions 2.4). */
export function memberRoutes(app: App, tools: InviteTools): void {
  registerInviteRoute(app, tools)
  registerListRoute(app, tools)
  registerChangeRoutes(app, tools)
}

function registerInviteRoute(app: App, tools: InviteTools): void {
  app.post(
    '/agent/invite',
    {
      config,
      schema: {
        tags,
        summary: 'Invite somebody; they are a member at once',
        body: strictObject({
          email: Type.String({ format: 'email', maxLength: 254 }),
          name: Type.Optional(Name),
          role: Type.Optional(stringEnum(MEMBER_ROLES, { default: 'editor' })),
        }),
        response: responseSchemas(200, dataSchema(InvitedMember), 400, 402, 409),
      },
    },
    async request => {
      const { email, name = null, role = 'editor' } = request.body
      return { data: await invite(withActor(tools, request), getCaller(request), { email, name, role }) }
    },
  )
}

function registerListRoute(app: App, { db }: { db: Db }): void {
  app.get(
    '/members',
    {
      config,
      schema: {
        tags,
        summary: 'List members',
        querystring: PageQuery,
        response: responseSchemas(200, pageSchema(Member), 400),
      },
    },
    async request => {
      const { rows, total } = await listMembers(db, getCaller(request).organizationId, toPageBounds(request.query))
      return { data: rows.map(toMemberResponse), meta: buildPageMeta(request.query, total) }
    },
  )
}

function registerChangeRoutes(app: App, { db, publicUrl }: InviteTools): void {
  app.put(
    '/members/:id',
    {
      config,
      schema: {
        tags,
        summary: 'Change the role of a member',
        params: IdParams,
        body: strictObject({ role: stringEnum(MEMBER_ROLES) }),
        response: responseSchemas(200, dataSchema(Member), 400, 404, 409),
      },
    },
    async request => {
      const { organizationId } = getCaller(request)
      const member = await changeRole(
        withRequestActor(db, request),
        organizationId,
        request.params.id,
        request.body.role,
      )
      return { data: toMemberResponse(member) }
    },
  )

  app.delete(
    '/members/:id',
    {
      config,
      schema: {
        tags,
        summary: 'End a membership; API keys that the member made go on working',
        params: IdParams,
        response: responseSchemas(200, DeletedResponse, 404, 409),
      },
    },
    async request => {
      const { id } = request.params
      await endMembership(withRequestActor(db, request), getCaller(request).organizationId, id)
      return { data: { id, deleted: true as const } }
    },
  )

  app.post(
    '/members/:id/claim-link',
    {
      config,
      schema: {
        tags,
        summary: 'Make a new claim link for a member who has set no password yet; the one before is void',
        params: IdParams,
        response: responseSchemas(201, dataSchema(ClaimLink), 404, 409),
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const { organizationId } = getCaller(request)
      const claimUrl = await renewClaimLink(withRequestActor(db, request), organizationId, id, publicUrl)
      return reply.code(201).send({ data: { user_id: id, claim_url: claimUrl, claim_expires_in: '72h' } })
    },
  )
}

const toMemberResponse = (row: MemberRow) => ({ ...row, user_id: row.id })
