import { Type } from 'typebox'
import type { Db } from '../../platform/postgres.ts'
import { actingAs, toolsActingAs } from '../../web/acting.ts'
import type { App } from '../../web/app.ts'
import { callerOf } from '../../web/auth.ts'
import { metaOf, pageOf } from '../../web/pages.ts'
import {
  answers,
  DeletedResponse,
  dataOf,
  enumOf,
  Id,
  IdParams,
  Name,
  nullable,
  PageQuery,
  pageOf as pageSchema,
  strictObject,
  Timestamp,
} from '../../web/schemas.ts'
import { changeRole, dismiss, type InviteTools, invite, renewClaimLink } from './actions.ts'
import { ROLES } from './role.ts'
import { listMembers, type MemberRow } from './store.ts'

const Member = Type.Object(
  {
    id: Type.String({ description: 'the id of the user' }),
    user_id: Id,
    email: Type.String(),
    name: nullable(Type.String()),
    role: enumOf(ROLES),
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
const Invited = Type.Object({
  user_id: Id,
  email: Type.String(),
  role: enumOf(ROLES),
  is_new_account: Type.Boolean(),
  claim_url: Type.Optional(Type.String({ description: 'only of a new account; works once, for 72 hours' })),
})
const ClaimLink = Type.Object({ user_id: Id, claim_url: Type.String(), claim_expires_in: Type.String() })

const tags = ['Members']
const config = { scope: 'admin' } as const

/** Who belongs to an organization, for admin keys (specification, "Agent bootstrap"; decisions 2.4). */
export function memberRoutes(app: App, tools: InviteTools): void {
  inviteRoute(app, tools)
  listRoute(app, tools)
  changeRoutes(app, tools)
}

function inviteRoute(app: App, tools: InviteTools): void {
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
          role: Type.Optional(enumOf(ROLES, { default: 'editor' })),
        }),
        response: answers(200, dataOf(Invited), 400, 402, 409),
      },
    },
    async request => {
      const { email, name = null, role = 'editor' } = request.body
      return { data: await invite(toolsActingAs(tools, request), callerOf(request), { email, name, role }) }
    },
  )
}

function listRoute(app: App, { db }: { db: Db }): void {
  app.get(
    '/members',
    {
      config,
      schema: {
        tags,
        summary: 'List members',
        querystring: PageQuery,
        response: answers(200, pageSchema(Member), 400),
      },
    },
    async request => {
      const { rows, total } = await listMembers(db, callerOf(request).organizationId, pageOf(request.query))
      return { data: rows.map(present), meta: metaOf(request.query, total) }
    },
  )
}

function changeRoutes(app: App, { db, publicUrl }: InviteTools): void {
  app.put(
    '/members/:id',
    {
      config,
      schema: {
        tags,
        summary: 'Change the role of a member',
        params: IdParams,
        body: strictObject({ role: enumOf(ROLES) }),
        response: answers(200, dataOf(Member), 400, 404, 409),
      },
    },
    async request => {
      const { organizationId } = callerOf(request)
      const member = await changeRole(actingAs(db, request), organizationId, request.params.id, request.body.role)
      return { data: present(member) }
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
        response: answers(200, DeletedResponse, 404, 409),
      },
    },
    async request => {
      const { id } = request.params
      await dismiss(actingAs(db, request), callerOf(request).organizationId, id)
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
        response: answers(201, dataOf(ClaimLink), 404, 409),
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const { organizationId } = callerOf(request)
      const claimUrl = await renewClaimLink(actingAs(db, request), organizationId, id, publicUrl)
      return reply.code(201).send({ data: { user_id: id, claim_url: claimUrl, claim_expires_in: '72h' } })
    },
  )
}

const present = (row: MemberRow) => ({ ...row, user_id: row.id })
