import { isUnderReview } from '../../../accounts/access-review/store.ts'
import { withAuditActor } from '../../../foundation/web/auth/audit-actor.ts'
import { ApiError } from '../../../foundation/web/server/errors.ts'
import { countMonitors } from '../../../insight/analytics/summary/summary-store.ts'
import { acknowledgeIncident } from '../../../verdict/incidents/api/actions.ts'
import { type IncidentRecord, listIncidents } from '../../../verdict/incidents/store.ts'
import type { StoredInstallation } from '../installations/installation.ts'
import { listTeamInstallations } from '../installations/installation-store.ts'
import { findChatMember, type PeopleTools } from '../people/people-actions.ts'
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

/** Who speaks: somebody in a team's chat, and from which address the provider passed it on. */
export type ChatUser = { teamId: string; chatUserId: string; ip: string }

/** The installation that commands of a team mean. */
export async function findActiveInstallation({ db }: CommandTools, teamId: string): Promise<StoredInstallation | null> {
  return (await listTeamInstallations(db, teamId)).find(({ revokedAt }) => revokedAt === null) ?? null
}

/** Does what a slash command says and answers the person. What it shows, everybody in the team may see. */
export async function runCommand(
  tools: CommandTools,
  speaker: ChatUser,
  command: SlashCommand,
  now: Date,
): Promise<EphemeralReply> {
  const installation = await findActiveInstallation(tools, speaker.teamId)
  if (!installation) return buildUnknownTeamReply(tools.publicUrl)
  const { projectId } = installation
  if (command.kind === 'help') return buildHelpReply()
  if (!(await canRead(tools, installation, speaker, now))) return buildReply(UNDER_REVIEW)
  const { incidents, total } = await openIncidents(tools, projectId)
  if (command.kind === 'incidents') return buildShortReply(incidents, total, '*Open incidents*', now)
  if (command.kind === 'status') {
    const [counts, troubled] = await Promise.all([
      countMonitors(tools.db, projectId),
      listFailingMonitors(tools.db, projectId),
    ])
    return buildStatusReply(counts, troubled, total)
  }
  const waiting = incidents.filter(isUnacknowledged)
  const meant = command.code === null ? waiting : filterByCode(command.code, incidents)
  if (command.code !== null && meant.length === 0)
    return buildReply(`No open incident is called ${stripMarkup(command.code)}.`)
  if (meant.length === 0) return buildReply('There is nothing to acknowledge.')
  if (meant.length > 1) return buildShortReply(meant, meant.length, 'Which one?', now)
  return buildReply((await acknowledgeFromChat(tools, installation, speaker, meant[0]!.id, now)).sentence)
}

/** Everybody in the team may; but while access is suspended, members who are not. */
async function canRead(
  tools: CommandTools,
  installation: StoredInstallation,
  { chatUserId }: ChatUser,
  now: Date,
): Promise<boolean> {
  if (!(await isUnderReview(tools.db, installation.projectId))) return true
  const member = await findChatMember(tools, installation, chatUserId, now)
  return member !== null && member !== 'unasked'
}

/** A sentence, and below it the incidents that wait still. */
export async function buildUnacknowledgedReply(
  tools: CommandTools,
  { projectId }: StoredInstallation,
  sentence: string,
  now: Date,
): Promise<EphemeralReply> {
  const waiting = (await openIncidents(tools, projectId)).incidents.filter(isUnacknowledged)
  return waiting.length === 0 ? buildReply(sentence) : buildShortReply(waiting, waiting.length, sentence, now)
}

const isUnacknowledged = ({ acknowledged_at }: IncidentRecord) => acknowledged_at === null

/** As many as are looked through, and as a message holds. */
const MAX_INCIDENTS = 200
const MAX_SHOWN_INCIDENTS = 20

const buildShortReply = (incidents: IncidentRecord[], total: number, intro: string, now: Date) =>
  buildIncidentsReply(incidents.slice(0, MAX_SHOWN_INCIDENTS), total, intro, now)

const OPEN = { statuses: ['investigating', 'identified', 'monitoring'], severities: null }

const openIncidents = ({ db }: CommandTools, projectId: string) =>
  listIncidents(db, projectId, OPEN, { limit: MAX_INCIDENTS, offset: 0 })

/** What came of an acknowledgement, and how a person is told. `isOver`: the button has nothing left to do. */
export type AcknowledgeResult = { isOver: boolean; sentence: string }

/** Acknowledges an incident as the member that the speaker is linked to, if that is one who may. */
export async function acknowledgeFromChat(
  tools: CommandTools,
  installation: StoredInstallation,
  speaker: ChatUser,
  incidentId: string,
  now: Date,
): Promise<AcknowledgeResult> {
  const { projectId } = installation
  const member = await findChatMember(tools, installation, speaker.chatUserId, now)
  if (member === 'unasked') return { isOver: false, sentence: PROVIDER_UNAVAILABLE }
  if (!member) return { isOver: false, sentence: NOT_A_MEMBER }
  if (member.role === 'viewer') return { isOver: false, sentence: VIEWER_ROLE }
  const { userId, email, organizationId } = member
  const actor = { kind: 'user' as const, id: userId, name: email }
  const db = withAuditActor(tools.db, { ...actor, ip: speaker.ip, projectId, organizationId })
  try {
    const incident = await acknowledgeIncident({ ...tools, db }, { projectId, userId }, incidentId, now)
    return { isOver: true, sentence: describeAcknowledgement(incident, userId, speaker) }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    return { isOver: true, sentence: `Nothing was done: ${error.message}.` }
  }
}

function describeAcknowledgement(
  { title, acknowledged_by }: IncidentRecord,
  userId: string,
  { chatUserId }: ChatUser,
): string {
  const what = stripMarkup(title)
  return acknowledged_by === userId
    ? `Acknowledged by <@${chatUserId}>: ${what}`
    : `Somebody else had acknowledged it before: ${what}`
}

const UNDER_REVIEW =
  'Access to this organization is suspended until its owner has decided who keeps it. Until then only members who are not suspended are answered.'
const NOT_A_MEMBER =
  'Only members can acknowledge, and none has the e-mail address of your chat account. Ask an admin for an invitation to Picket.'
const PROVIDER_UNAVAILABLE =
  'The chat cannot tell Picket who you are at the moment. Nothing was done; try again in a minute.'
const VIEWER_ROLE =
  'You may look, but not acknowledge: your role in Picket is viewer. Ask an admin to make you an editor.'
