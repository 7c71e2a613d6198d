import { ACKNOWLEDGE } from '../channels/chat-a-layout.ts'
import { recordOf, textOf, wordOf } from './words.ts'

/** A click on a button that acknowledges. */
export type Click = {
  teamId: string
  chatUserId: string
  incidentId: string
  /** where answers go */
  responseUrl: string
  /** the message that the button is in; ephemeral ones are seen by one person */
  message: { text: string; blocks: unknown[]; isEphemeral: boolean }
}

/** Reads an interaction; null for one that needs nothing, a click on a link for instance. */
export function readClick(payload: unknown): Click | null {
  const { type, user, team, actions, message, container, response_url: responseUrl } = recordOf(payload)
  const [action] = Array.isArray(actions) ? actions.map(recordOf) : []
  const chatUserId = wordOf(recordOf(user).id)
  const teamId = wordOf(recordOf(team).id) ?? wordOf(recordOf(user).team_id)
  if (type !== 'block_actions' || action?.action_id !== ACKNOWLEDGE || !chatUserId || !teamId) return null
  const { text, blocks } = recordOf(message)
  return {
    teamId,
    chatUserId,
    incidentId: textOf(action.value),
    responseUrl: textOf(responseUrl),
    message: {
      text: textOf(text),
      blocks: Array.isArray(blocks) ? blocks : [],
      isEphemeral: recordOf(container).is_ephemeral === true,
    },
  }
}

/** The blocks of a message without the button that acknowledges an incident, and a line about what came of it. */
export function withoutButton(blocks: unknown[], incidentId: string, line: string): unknown[] {
  const kept = blocks.flatMap(block => {
    const { type, elements } = recordOf(block)
    if (type !== 'actions' || !Array.isArray(elements)) return [block]
    const others = elements.map(recordOf).filter(one => one.action_id !== ACKNOWLEDGE || one.value !== incidentId)
    return others.length === 0 ? [] : [{ ...recordOf(block), elements: others }]
  })
  return [...kept, { type: 'context', elements: [{ type: 'mrkdwn', text: line }] }]
}
