import { groupBy } from '../../shared/group-by.ts'
import { enqueueDeliveries } from '../deliveries/actions.ts'
import { dependencyOfSubject, type EventRow, monitorOfSubject } from '../events/catalog.ts'
import { isChange } from '../events/digest.ts'
import { insertEvents } from '../events/store.ts'
import type { Tx } from '../platform/postgres.ts'
import { gatherDigests, type Tellable } from './digest-actions.ts'
import { overridesOfDependencies } from './override-store.ts'
import { noteForPages } from './page-notice-store.ts'
import { isToldToPeople, type Person, peopleToTell } from './people.ts'
import { peopleOfProjects } from './people-store.ts'
import { type Audience, recipients } from './recipients.ts'
import { upsertReminders } from './reminder-store.ts'
import { remindersOf } from './reminders.ts'
import { rulesOfMonitors, type StoredRule } from './store.ts'
import { alertTypeOf } from './subscription.ts'
import { subscriptionsOfProjects } from './subscription-store.ts'

/**
 * Writes events down and queues their deliveries to whoever hears of them (specification, "Subscription"), beside what
 * caused them, in the caller's transaction, set-based. Whoever makes an event tells it with this.
 */
export async function announce(tx: Tx, events: EventRow[], now: Date): Promise<void> {
  await insertEvents(tx, events)
  await tellEvents(tx, events, now)
}

/** The second half, for events that were written down before and are to be told only now. */
export async function tellEvents(tx: Tx, events: EventRow[], now: Date): Promise<void> {
  if (events.length === 0) return
  const audienceOf = await readAudiences(tx, events)
  const deliveries = events.flatMap(event =>
    channelsOf(event, audienceOf(event)).map(channelId => toDelivery(event, channelId)),
  )
  await enqueueDeliveries(tx, await gatherDigests(tx, deliveries, now), now)
  const reminders = events.flatMap(event => remindersOf(event, audienceOf(event).rules, now))
  await upsertReminders(tx, reminders)
  await noteForPages(tx, events, now)
}

/** A person's own channel has neither rules nor subscriptions, so none is named twice. */
const channelsOf = (event: EventRow, audience: Heard) => [
  ...recipients(event, audience),
  ...peopleToTell(event, audience.people).map(({ channelId }) => channelId),
]

type Heard = Audience & { rules: StoredRule[]; people: Person[] }

/** Rules for the events of monitors, subscriptions for all others and overrides for vendors', each read once for all events. */
async function readAudiences(tx: Tx, events: EventRow[]): Promise<(event: EventRow) => Heard> {
  const monitorIds = new Set(events.flatMap(event => monitorOfSubject(event.subject) ?? []))
  const projectIds = new Set(events.flatMap(event => (alertTypeOf(event.name) === null ? [] : event.projectId)))
  const rules = groupBy(await rulesOfMonitors(tx, [...monitorIds]), rule => rule.monitorId)
  const dependencyIds = new Set(events.flatMap(event => dependencyOfSubject(event.subject) ?? []))
  const overrides = groupBy(await overridesOfDependencies(tx, [...dependencyIds]), one => one.dependencyId)
  const subscriptions = groupBy(await subscriptionsOfProjects(tx, [...projectIds]), one => one.projectId)
  const withPeople = new Set(events.flatMap(({ name, projectId }) => (isToldToPeople(name) ? projectId : [])))
  const people = groupBy(await peopleOfProjects(tx, [...withPeople]), one => one.projectId)
  return ({ subject, projectId }) => ({
    rules: rules.get(monitorOfSubject(subject) ?? '') ?? [],
    subscriptions: subscriptions.get(projectId) ?? [],
    overrides: overrides.get(dependencyOfSubject(subject) ?? '') ?? [],
    people: people.get(projectId) ?? [],
  })
}

function toDelivery(event: EventRow, channelId: string): Tellable {
  const { projectId, id, name, subject } = event
  return { projectId, channelId, eventId: id, eventName: name, subject, isChange: isChange(event) }
}
