import { isUnderReview } from '../../../accounts/access-review/store.ts'
import { withAuditActor } from '../../../foundation/web/auth/audit-actor.ts'
import { ApiError } from '../../../foundation/web/server/errors.ts'
import { countMonitors } from '../../../insight/analytics/summary/summary-store.ts'
import { acknowledgeIncident } from '../../../verdict/incidents/api/actions.ts'
import { type IncidentRecord, listIncidents } from '../../../verdict/incidents/store.ts'
import type { StoredInstallation } from '../installations/installation.ts'
import { listTeamInstallations } from '../installations/installation-store.ts'
import { findChatMember, type MemberRefusal, type PeopleTools } from '../people/people-actions.ts'
import { listFailingMonitors } from '../people/people-store.ts'
import { filterByCode, type SlashCommand } from './command.ts'
import {
  buildHelpReply,
  buildIncidentsReply,
  buildReply,
  buildStatusReply,
  buildUnknownTeamReply,
  type EphemeralReply,
  stripMarkup,
} from './reply.ts'

export type CommandTools = PeopleTools & { publicUrl: string }

/** A user of a team's chat, and the address from which the provider sent the request. */
type ChatUser = { teamId: string; chatUserId: string; ip: string }

/** Finds the active installation of a team. */
export async function findActiveInstallation({ db }: CommandTools, teamId: string): Promise<StoredInstallation | null> {
  return (await listTeamInstallations(db, teamId)).find(({ revokedAt }) => revokedAt === null) ?? null
}

/** Runs a slash command and returns the reply. Everyone in the team may see what it shows. */
export async function runCommand(
  tools: CommandTools,
  user: ChatUser,
  command: SlashCommand,
  now: Date,
): Promise<EphemeralReply> {
  const installation = await findActiveInstallation(tools, user.teamId)
  if (!installation) return buildUnknownTeamReply(tools.publicUrl)
  const { projectId } = installation
  if (command.kind === 'help') return buildHelpReply()
  if (!(await canRead(tools, installation, user, now))) return buildReply(UNDER_REVIEW)
  const { incidents, total } = await listOpenIncidents(tools, projectId)
  if (command.kind === 'incidents') return buildShortReply(incidents, total, '*Open incidents*', now)
  if (command.kind === 'status') {
    const [counts, failing] = await Promise.all([
      countMonitors(tools.db, projectId),
      listFailingMonitors(tools.db, projectId),
    ])
    return buildStatusReply(counts, failing, total)
  }
  const matches = command.code === null ? incidents.filter(isUnacknowledged) : filterByCode(command.code, incidents)
  if (command.code !== null && matches.length === 0)
    return buildReply(`No open incident has the code ${stripMarkup(command.code)}.`)
  if (matches.length === 0) return buildReply('There is nothing to acknowledge.')
  if (matches.length > 1) return buildShortReply(matches, matches.length, 'Which incident?', now)
  return buildReply((await acknowledgeFromChat(tools, installation, user, matches[0]!.id, now)).message)
}

/** Whether a user may read. During an access review only members that are not suspended may. */
async function canRead(
  tools: CommandTools,
  installation: StoredInstallation,
  { chatUserId }: ChatUser,
  now: Date,
): Promise<boolean> {
  if (!(await isUnderReview(tools.db, installation.projectId))) return true
  const member = await findChatMember(tools, installation, chatUserId, now)
  return typeof member !== 'string'
}

/** Builds a reply with a message and the incidents that are not acknowledged yet. */
export async function buildUnacknowledgedReply(
  tools: CommandTools,
  { projectId }: StoredInstallation,
  message: string,
  now: Date,
): Promise<EphemeralReply> {
  const incidents = (await listOpenIncidents(tools, projectId)).incidents.filter(isUnacknowledged)
  return incidents.length === 0 ? buildReply(message) : buildShortReply(incidents, incidents.length, message, now)
}

const isUnacknowledged = ({ acknowledged_at }: IncidentRecord) => acknowledged_at === null

/** Maximum number of incidents that a command considers. */
const MAX_INCIDENTS = 200
const MAX_SHOWN_INCIDENTS = 20

const buildShortReply = (incidents: IncidentRecord[], total: number, intro: string, now: Date) =>
  buildIncidentsReply(incidents.slice(0, MAX_SHOWN_INCIDENTS), total, intro, now)

const OPEN = { statuses: ['investigating', 'identified', 'monitoring'], severities: null }

const listOpenIncidents = ({ db }: CommandTools, projectId: string) =>
  listIncidents(db, projectId, OPEN, { limit: MAX_INCIDENTS, offset: 0 })

/** The result of an acknowledgement, with a message for the user. `isFinal`: the button is obsolete. */
type AcknowledgeResult = { isFinal: boolean; message: string }

/** Acknowledges an incident as the linked member, if that member may do so. */
export async function acknowledgeFromChat(
  tools: CommandTools,
  installation: StoredInstallation,
  user: ChatUser,
  incidentId: string,
  now: Date,
): Promise<AcknowledgeResult> {
  const { projectId } = installation
  const member = await findChatMember(tools, installation, user.chatUserId, now)
  if (typeof member === 'string') return { isFinal: false, message: REFUSALS[member] }
  if (member.role === 'viewer') return { isFinal: false, message: VIEWER_ROLE }
  const { userId, email, organizationId } = member
  const actor = { kind: 'user' as const, id: userId, name: email }
  const db = withAuditActor(tools.db, { ...actor, ip: user.ip, projectId, organizationId })
  try {
    const incident = await acknowledgeIncident({ ...tools, db }, { projectId, userId }, incidentId, now)
    return { isFinal: true, message: describeAcknowledgement(incident, userId, user) }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    return { isFinal: true, message: `Nothing was changed: ${error.message}.` }
  }
}

function describeAcknowledgement(
  { title, acknowledged_by }: IncidentRecord,
  userId: string,
  { chatUserId }: ChatUser,
): string {
  const name = stripMarkup(title)
  return acknowledged_by === userId
    ? `Acknowledged by <@${chatUserId}>: ${name}`
    : `Already acknowledged by another person: ${name}`
}

const UNDER_REVIEW =
  'Access to this organization is suspended until its owner has reviewed it. Until then, only members who are not suspended can use this command.'
const REFUSALS: Record<MemberRefusal, string> = {
  no_member:
    'Only members can acknowledge incidents, and no member has the email address of your chat account. Ask an admin to invite you to Picket.',
  disconnected:
    'Your chat account was disconnected from Picket, so it cannot acknowledge incidents. An editor can connect it again in the chat settings of Picket.',
  unavailable:
    'Picket cannot identify you at the moment because the chat does not respond. Nothing was changed; try again in a minute.',
}
const VIEWER_ROLE =
  'Viewers cannot acknowledge incidents, and your role in Picket is viewer. Ask an admin to make you an editor.'
