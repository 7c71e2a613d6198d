import { Type } from 'typebox'
import type { Db } from '../../foundation/platform/postgres/client.ts'
import { withActor, withRequestActor } from '../../foundation/web/auth/audit-actor.ts'
import { getCaller } from '../../foundation/web/auth/authentication.ts'
import { deleteRoute, listRoute, updateRoute } from '../../foundation/web/resource-routes.ts'
import type { App } from '../../foundation/web/server/app.ts'
import {
  dataSchema,
  Id,
  IdParams,
  Name,
  nullable,
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
    id: Type.String({ description: 'Id of the user.' }),
    user_id: Id,
    email: Type.String(),
    name: nullable(Type.String()),
    role: stringEnum(MEMBER_ROLES),
    is_claimed: Type.Boolean({ description: 'Whether a password is set.' }),
    awaits_proof: Type.Boolean({
      description:
        'The account was created by another person, and its address is not proven. Until it is, the member has no access.',
    }),
    suspended_at: nullable(Timestamp, {
      description:
        'Time of the suspension. The member has no access until an admin keeps or ends the membership in the browser.',
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
  claim_url: Type.Optional(Type.String({ description: 'For a new account only. Works once, for 72 hours.' })),
})
const ClaimLink = Type.Object({ user_id: Id, claim_url: Type.String(), claim_expires_in: Type.String() })

const tags = ['Members']
const config = { scope: 'admin' } as const

/** Routes of members, for admin keys (docs/design/accounts.md#members). */
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
        summary: 'Invite a person',
        description: 'The person becomes a member immediately, with a new account if the address has none.',
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
  listRoute(app, '/members', {
    config,
    summary: 'List members',
    tags,
    record: Member,
    list: async (request, bounds) => {
      const { rows, total } = await listMembers(db, getCaller(request).organizationId, bounds)
      return { data: rows.map(toMemberResponse), total }
    },
  })
}

function registerChangeRoutes(app: App, { db, publicUrl }: InviteTools): void {
  updateRoute(app, '/members/:id', {
    config,
    summary: 'Update the role of a member',
    tags,
    body: strictObject({ role: stringEnum(MEMBER_ROLES) }),
    record: Member,
    errors: [400, 404, 409],
    update: async request => {
      const { organizationId } = getCaller(request)
      const { id } = request.params
      return toMemberResponse(await changeRole(withRequestActor(db, request), organizationId, id, request.body.role))
    },
  })

  deleteRoute(app, '/members/:id', {
    config,
    summary: 'Remove a member',
    description: 'API keys that the member created keep working.',
    tags,
    errors: [404, 409],
    remove: request =>
      endMembership(withRequestActor(db, request), getCaller(request).organizationId, request.params.id),
  })

  app.post(
    '/members/:id/claim-link',
    {
      config,
      schema: {
        tags,
        summary: 'Create a claim link',
        description: 'For a member who has not set a password. The previous link stops working.',
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
