import { formatDateTime, formatState } from '../../../alerting/channels/notices/wording.ts'
import { renderHtml } from '../../../foundation/web/html/render.ts'
import { TextLines } from '../../../foundation/web/html/text-lines.tsx'
import type { IncidentView, MaintenanceView, NoticedMaintenanceView, PageView, UpdateView } from '../../core/types.ts'
import { formatComponentNames } from '../../templates/labels.ts'
import { findLastIncidentChange } from './changed-at.ts'
import { buildIncidentUrl } from './statuspage.ts'

/** A feed entry for one incident or one maintenance. Texts are not escaped, `html` is HTML. Times are ISO 8601 UTC. */
type PageFeedEntry = {
  /** permanent; does not depend on the address of the page */
  id: string
  title: string
  link: string
  html: string
  publishedAt: string
  updatedAt: string
}

/** Feed readers keep the entries that they have read. */
const MAX_ENTRIES = 50
const MAX_UPDATES_PER_ENTRY = 20

/** An entry that is not rendered yet. */
type EntryDraft = Omit<PageFeedEntry, 'html'> & { render: () => string }

/**
 * Incidents and maintenance of a page, last changed first, at most 50. Maintenance is published at its first notice to
 * subscribers, or when it begins if it has no notices.
 */
export function buildFeedEntries(view: PageView): PageFeedEntry[] {
  const incidents = [...view.openIncidents, ...view.pastIncidents].map(incident => toIncidentEntry(view, incident))
  const noticed = view.noticedMaintenance.map(one => toNoticedEntry(view, one))
  const started = view.maintenance
    .filter(one => one.isRunning && !view.noticedMaintenance.some(noticed => isSamePeriod(noticed, one)))
    .map(one => toMaintenanceEntry(view, one))
  return [...incidents, ...noticed, ...started]
    .sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
    .slice(0, MAX_ENTRIES)
    .map(({ render, ...entry }) => ({ ...entry, html: render() }))
}

/** A change while it runs gives the period of the page another beginning (verdict/maintenance/period-plan.ts). */
const isSamePeriod = (noticed: NoticedMaintenanceView, { id, endsAt }: MaintenanceView) =>
  getWindowId(noticed) === getWindowId({ id }) && noticed.endsAt === endsAt

const getWindowId = ({ id }: { id: string }) => id.slice(0, id.lastIndexOf('-'))

function toIncidentEntry(view: PageView, incident: IncidentView): EntryDraft {
  const { id, title, startedAt, updates, postmortem } = incident
  const shown = updates.length > 0 ? updates.slice(0, MAX_UPDATES_PER_ENTRY) : [toOnlyState(incident)]
  return {
    id: `urn:uuid:${id}`,
    title,
    link: buildIncidentUrl(view, id),
    render: () =>
      renderHtml(
        <>
          {postmortem !== null && <Postmortem {...postmortem} />}
          {shown.map(update => (
            <Update {...update} />
          ))}
          <Affected of={incident} />
        </>,
      ),
    publishedAt: startedAt,
    updatedAt: findLastIncidentChange(incident),
  }
}

/** The state of an incident without public updates. The times of the states between its start and its end are internal. */
const toOnlyState = ({ status, startedAt, resolvedAt }: IncidentView): ShownUpdate => ({
  status,
  at: resolvedAt ?? (status === 'investigating' ? startedAt : null),
  message: '',
})

function toMaintenanceEntry(view: PageView, one: MaintenanceView): EntryDraft {
  const { id, name, description, startsAt, endsAt } = one
  return {
    // a recurring window has one entry per occurrence
    id: `urn:uuid:${id}#${startsAt}`,
    title: name,
    link: view.publicUrl,
    render: () =>
      renderHtml(
        <>
          <p>
            <strong>Maintenance</strong>: {formatDateTime(startsAt)} to {formatDateTime(endsAt)}
          </p>
          <Paragraph text={description ?? ''} />
          <Affected of={one} />
        </>,
      ),
    publishedAt: startsAt,
    updatedAt: startsAt,
  }
}

const STAGES = { announced: 'Announced', changed: 'Rescheduled', begun: 'In progress', ended: 'Completed' }

/** The entry of maintenance with notices: the stages that were sent, newest first, and the period. */
function toNoticedEntry(view: PageView, { notices, firstStartsAt, ...period }: NoticedMaintenanceView): EntryDraft {
  const entry = toMaintenanceEntry(view, { ...period, isRunning: true })
  const renderStages = () =>
    notices.toReversed().map(({ stage, at, previous }) =>
      renderHtml(
        <p>
          <strong>{STAGES[stage]}</strong>, <small>{formatDateTime(at)}</small>
          {previous !== null && ` Before: ${formatDateTime(previous.startsAt)} to ${formatDateTime(previous.endsAt)}`}
        </p>,
      ),
    )
  return {
    ...entry,
    // stays the same when the period is moved
    id: `urn:uuid:${period.id}#${firstStartsAt}`,
    render: () => [...renderStages(), entry.render()].join(''),
    publishedAt: notices[0]?.at ?? entry.publishedAt,
    updatedAt: notices.at(-1)?.at ?? entry.updatedAt,
  }
}

const Postmortem = ({ text, publishedAt }: NonNullable<IncidentView['postmortem']>) => (
  <>
    <p>
      <strong>Post-mortem</strong>, <small>{formatDateTime(publishedAt)}</small>
    </p>
    <Paragraph text={text} />
  </>
)

type ShownUpdate = Pick<UpdateView, 'status' | 'message'> & { at: string | null }

const Update = ({ status, at, message }: ShownUpdate) => (
  <>
    <p>
      <strong>{formatState(status)}</strong>
      {at !== null && (
        <>
          , <small>{formatDateTime(at)}</small>
        </>
      )}
    </p>
    <Paragraph text={message} />
  </>
)

const Paragraph = ({ text }: { text: string }) =>
  text === '' ? null : (
    <p>
      <TextLines text={text} />
    </p>
  )

const Affected = ({ of }: { of: Pick<MaintenanceView, 'componentNames' | 'componentCount'> }) =>
  of.componentNames.length === 0 ? null : <p>Affects {formatComponentNames(of)}</p>
