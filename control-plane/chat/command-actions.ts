import { isUnderReview } from '../accounts/access/store.ts'
import { countMonitors } from '../analytics/summary-store.ts'
import { acknowledgeIncident } from '../incidents/actions.ts'
import { type IncidentRecord, listIncidents } from '../incidents/store.ts'
import { actingFor } from '../web/acting.ts'
import { ApiError } from '../web/errors.ts'
import { type Answer, helpAnswer, incidentsAnswer, plainly, say, statusAnswer, unknownTeamAnswer } from './answer.ts'
import { type Command, incidentsOfCode } from './command.ts'
import type { StoredInstallation } from './installation.ts'
import { memberOf, type PeopleTools } from './people-actions.ts'
import { troubledMonitors } from './people-store.ts'
import { installationsOfTeam } from './store.ts'

export type CommandTools = PeopleTools & { publicUrl: string }

/** Who speaks: somebody in a team's chat, and from which address the provider passed it on. */
export type Speaker = { teamId: string; chatUserId: string; ip: string }

/** The installation that commands of a team mean. */
export async function activeInstallation({ db }: CommandTools, teamId: string): Promise<StoredInstallation | null> {
  return (await installationsOfTeam(db, teamId)).find(({ revokedAt }) => revokedAt === null) ?? null
}

/** Does what a slash command says and answers the person. What it shows, everybody in the team may see. */
export async function runCommand(tools: CommandTools, speaker: Speaker, command: Command, now: Date): Promise<Answer> {
  const installation = await activeInstallation(tools, speaker.teamId)
  if (!installation) return unknownTeamAnswer(tools.publicUrl)
  const { projectId } = installation
  if (command.kind === 'help') return helpAnswer()
  if (!(await mayRead(tools, installation, speaker, now))) return say(UNDER_REVIEW)
  const { incidents, total } = await openIncidents(tools, projectId)
  if (command.kind === 'incidents') return shown(incidents, total, '*Open incidents*', now)
  if (command.kind === 'status') {
    const [counts, troubled] = await Promise.all([
      countMonitors(tools.db, projectId),
      troubledMonitors(tools.db, projectId),
    ])
    return statusAnswer(counts, troubled, total)
  }
  const waiting = incidents.filter(isWaiting)
  const meant = command.code === null ? waiting : incidentsOfCode(command.code, incidents)
  if (command.code !== null && meant.length === 0) return say(`No open incident is called ${plainly(command.code)}.`)
  if (meant.length === 0) return say('There is nothing to acknowledge.')
  if (meant.length > 1) return shown(meant, meant.length, 'Which one?', now)
  return say((await acknowledge(tools, installation, speaker, meant[0]!.id, now)).sentence)
}

/** Everybody in the team may; but while access is suspended, members who are not. */
async function mayRead(
  tools: CommandTools,
  installation: StoredInstallation,
  { chatUserId }: Speaker,
  now: Date,
): Promise<boolean> {
  if (!(await isUnderReview(tools.db, installation.projectId))) return true
  const member = await memberOf(tools, installation, chatUserId, now)
  return member !== null && member !== 'unasked'
}

/** A sentence, and below it the incidents that wait still. */
export async function waitingAnswer(
  tools: CommandTools,
  { projectId }: StoredInstallation,
  sentence: string,
  now: Date,
): Promise<Answer> {
  const waiting = (await openIncidents(tools, projectId)).incidents.filter(isWaiting)
  return waiting.length === 0 ? say(sentence) : shown(waiting, waiting.length, sentence, now)
}

const isWaiting = ({ acknowledged_at }: IncidentRecord) => acknowledged_at === null

/** As many as are looked through, and as a message holds. */
const MOST_INCIDENTS = 200
const MOST_SHOWN = 20

const shown = (incidents: IncidentRecord[], total: number, intro: string, now: Date) =>
  incidentsAnswer(incidents.slice(0, MOST_SHOWN), total, intro, now)

const OPEN = { statuses: ['investigating', 'identified', 'monitoring'], severities: null }

const openIncidents = ({ db }: CommandTools, projectId: string) =>
  listIncidents(db, projectId, OPEN, { limit: MOST_INCIDENTS, offset: 0 })

/** What came of an acknowledgement, and how a person is told. `isOver`: the button has nothing left to do. */
export type Acknowledged = { isOver: boolean; sentence: string }

/** Acknowledges an incident as the member that the speaker is linked to, if that is one who may. */
export async function acknowledge(
  tools: CommandTools,
  installation: StoredInstallation,
  speaker: Speaker,
  incidentId: string,
  now: Date,
): Promise<Acknowledged> {
  const { projectId } = installation
  const member = await memberOf(tools, installation, speaker.chatUserId, now)
  if (member === 'unasked') return { isOver: false, sentence: UNASKED }
  if (!member) return { isOver: false, sentence: STRANGER }
  if (member.role === 'viewer') return { isOver: false, sentence: VIEWER }
  const { userId, email, organizationId } = member
  const actor = { kind: 'user' as const, id: userId, name: email }
  const db = actingFor(tools.db, { ...actor, ip: speaker.ip, projectId, organizationId })
  try {
    const incident = await acknowledgeIncident({ ...tools, db }, { projectId, userId }, incidentId, now)
    return { isOver: true, sentence: sentenceOf(incident, userId, speaker) }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    return { isOver: true, sentence: `Nothing was done: ${error.message}.` }
  }
}

function sentenceOf({ title, acknowledged_by }: IncidentRecord, userId: string, { chatUserId }: Speaker): string {
  const what = plainly(title)
  return acknowledged_by === userId
    ? `Acknowledged by <@${chatUserId}>: ${what}`
    : `Somebody else had acknowledged it before: ${what}`
}

const UNDER_REVIEW =
  'Access to this organization is suspended until its owner has decided who keeps it. Until then only members who are not suspended are answered.'
const STRANGER =
  'Only members can acknowledge, and none has the e-mail address of your chat account. Ask an admin for an invitation to Picket.'
const UNASKED = 'The chat cannot tell Picket who you are at the moment. Nothing was done; try again in a minute.'
const VIEWER = 'You may look, but not acknowledge: your role in Picket is viewer. Ask an admin to make you an editor.'
